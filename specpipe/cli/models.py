"""Makes the models of an instance ready before its processes start."""

from specpipe.settings import Settings


def prepared(settings: Settings) -> Settings:
    """Return the settings."""
    return settings
