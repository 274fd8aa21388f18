"""Tests of specpipe.words."""
