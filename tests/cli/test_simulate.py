"""The chances that a simulated pair is given."""

import pytest

from specpipe.cli.simulate import _chances
from specpipe.cli.trial import _prompt
from specpipe.errors import SettingsError


def test_chances_are_a_list() -> None:
    """As they are written in the papers."""
    assert _chances(".7,.12,.05,.03") == (0.7, 0.12, 0.05, 0.03)
    assert _chances("1") == (1.0,)


@pytest.mark.parametrize("words", ["", "a", ".5,.6", "-.1", "1.5", "nan", ".5;.2"])
def test_what_are_no_chances_is_refused(words: str) -> None:
    """They lie in 0..1, and are shares of one whole."""
    with pytest.raises(SettingsError, match=r"^w: "):
        _chances(words)


def test_another_seed_is_another_prompt() -> None:
    """The planted text hangs on the prompt, so each seed measures another one."""
    prompts = {tuple(_prompt(seed)) for seed in (0, 1, 4096, 2**47)}

    assert len(prompts) == 4
    assert all(0 <= token < 4096 for prompt in prompts for token in prompt)
