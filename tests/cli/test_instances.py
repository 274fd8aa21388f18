"""Which running instance serves what was asked for."""

from typing import Any

import pytest
from msgspec.structs import replace

from specpipe.cli.instances import fits
from specpipe.links.folder import Instance
from specpipe.settings import ModelSettings, Settings, SpeculationSettings

INSTANCE = Instance(pid=1, version="0", target="a", draft="b", dtype="float32", clients="ipc://x", created=0.0)
SETTINGS = Settings(target=ModelSettings("a", device="cpu", dtype="float32"), draft=ModelSettings("b"))


def test_the_same_models_and_arithmetic_fit() -> None:
    """An instance is used if it would write the same text in the same way."""
    assert fits(INSTANCE, SETTINGS)


@pytest.mark.parametrize("other", [{"target": "c"}, {"draft": "none"}, {"dtype": "bfloat16"}])
def test_another_model_or_arithmetic_does_not_fit(other: dict[str, Any]) -> None:
    """One difference is enough."""
    assert not fits(replace(INSTANCE, **other), SETTINGS)


def test_the_target_alone_needs_no_certain_draft() -> None:
    """In target mode the draft is not asked."""
    settings = replace(SETTINGS, speculation=SpeculationSettings(mode="target"))

    assert fits(replace(INSTANCE, draft="none"), settings)


def test_auto_is_what_this_machine_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a wish, the arithmetic must be that which an instance of one's own would have."""
    settings = replace(SETTINGS, target=replace(SETTINGS.target, dtype="auto"))
    for hardware, dtype in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr("specpipe.models.device.cpu_has_bfloat16", lambda has=hardware: has)

        assert fits(replace(INSTANCE, dtype=dtype), settings)
        assert not fits(replace(INSTANCE, dtype="float32" if hardware else "bfloat16"), settings)
