"""Tests of specpipe.models."""
