"""The coordinator: between clients and workers, without a model and without torch."""
