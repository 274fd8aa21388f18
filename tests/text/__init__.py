"""Tests of tokenizers, templates and streamed text."""
