"""What msgspec finds wrong is said in a user's words."""

from typing import Any

import msgspec
import pytest

from specpipe.settings import Settings
from specpipe.wording import objection


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"speculation": {"lanes": 0}}, "speculation.lanes: expected int >= 1"),
        ({"speculation": {"lanes": "many"}}, "speculation.lanes: expected int, got str"),
        ({"speculation": {"mode": "fast"}}, "speculation.mode: invalid enum value 'fast'"),
        ({"speculation": {"lane": 4}}, "speculation.lane: there is no such key"),
        ({"simulated": {"w": [0.5, 2.0]}}, "simulated.w[1]: expected float <= 1.0"),
        ({"target": {"dtype": "float32"}}, "target.name: this is missing"),
        ({"target": 5}, "target: expected object, got int"),
        ({"targget": {}}, "targget: there is no such key"),
        ([], "expected object, got array"),
    ],
)
def test_the_key_and_what_was_expected_are_named(tree: Any, said: str) -> None:
    """One line, with the keys joined by dots and none of the library's own notation."""
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(tree, Settings)

    assert str(objection(caught.value)) == said
