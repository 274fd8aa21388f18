"""Tests of noise, processors and choices."""
