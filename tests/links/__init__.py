"""Tests of specpipe.links."""
