"""Speculative decoding in which drafting and verifying run at the same time, in processes of their own."""

__version__ = "0.1.0"

__all__ = ["__version__"]
