"""Tests mirror the package; `tests.tiny` builds models and `tests.reference` says what they must answer."""
