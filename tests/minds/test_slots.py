"""Slots of a lane."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.minds.slots import Slots


@given(moves=st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60))
def test_each_prefix_has_a_slot_of_its_own_and_the_lowest_that_is_free(moves: list[tuple[bool, int]]) -> None:
    """However slots are held and dropped, none is shared, lost, or higher than needed."""
    slots = Slots(10)
    for hold, prefix in moves:
        others = {slot for other, slot in slots.items() if other != prefix}
        if hold and prefix in slots:
            before = slots[prefix]
            assert slots.hold(prefix) == before
        elif hold:
            assert slots.hold(prefix) == min(set(range(10)) - others)
        else:
            slots.drop(prefix)
            assert prefix not in slots
        assert others == {slot for other, slot in slots.items() if other != prefix}
        assert slots.free == 10 - len(slots)
