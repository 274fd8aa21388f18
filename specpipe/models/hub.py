"""Model folders from the Hugging Face hub, or from its cache on this machine when the hub cannot be reached."""

import re
from pathlib import Path

from specpipe.errors import ModelError

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WANTED = ["*.safetensors", "*.json", "*.jinja"]


def fetched(name: str) -> Path:
    """Return the local folder of a hub id, fetched if it is not there; no code of the model is fetched.

    Raises `ModelError` that says what to do.
    """
    if not _ID.fullmatch(name):
        raise ModelError(f"there is no folder {name}, and it is no hub id; name a model's folder or owner/model")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - slow to import, and most models are local
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return Path(snapshot_download(name, allow_patterns=_WANTED))
    except HFValidationError as error:
        raise ModelError(f"{name!r} is neither a folder nor a hub id: {error}") from error
    except LocalEntryNotFoundError as error:
        raise ModelError(
            f"there is no folder {name}, and no model of that name is cached here while the hub cannot be reached; "
            "name a local folder, or connect once to fetch it"
        ) from error
    except HfHubHTTPError as error:
        raise ModelError(
            f"the hub does not give {name!r} ({_status(error)}); check its name, and your access to it"
        ) from error
    except OSError as error:
        raise ModelError(f"cannot fetch {name!r}: {error}; name a local folder, or try again") from error


def _status(error: Exception) -> str:
    response = getattr(error, "response", None)
    return f"status {response.status_code}" if response is not None else type(error).__name__
