"""What has been drafted of one request."""

from hypothesis import given
from hypothesis import strategies as st

from specpipe.words.drafted import WIDEST, Drafted
from specpipe.words.draw import Draw

EDGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.floats(0.01, 1.0)), max_size=40)


@given(edges=EDGES, data=st.data())
def test_edges_lie_where_they_belong_in_any_order_and_number(
    edges: list[tuple[int, int, float]], data: st.DataObject
) -> None:
    """Late, repeated and reordered edges are found after their prefix, each token once, the likeliest first."""
    chances = {(prefix, token): chance for prefix, token, chance in edges}
    drafted = Drafted()
    for prefix, token in data.draw(st.permutations([*chances] * 2)):
        drafted.add(prefix, token, 0.0, chances[prefix, token])

    for prefix in range(4):
        found = drafted.after(prefix)
        assert {edge.token: edge.chance for edge in found} == {
            token: chance for (parent, token), chance in chances.items() if parent == prefix
        }
        assert [edge.chance for edge in found] == sorted((edge.chance for edge in found), reverse=True)


def test_the_first_of_equals_stays_first() -> None:
    """So that the order does not depend on how often one asks."""
    drafted = Drafted()
    for token, chance in enumerate([0.2, 0.5, 0.5, 0.2]):
        drafted.add(1, token, 0.0, chance)

    assert [edge.token for edge in drafted.after(1)] == [1, 2, 0, 3]


def test_the_first_draw_after_a_prefix_stands() -> None:
    """A later one, of a drafter that was replaced, changes nothing; of too many prefixes the oldest are forgotten."""
    drafted = Drafted(capacity=2)
    first, *others = (Draw.certain(token) for token in range(4))
    for prefix, draw in ((1, first), (1, others[0]), (2, others[1])):
        drafted.draw(prefix, draw)

    assert [drafted.drawn(1), drafted.drawn(2), drafted.drawn(3)] == [first, others[1], None]
    drafted.draw(3, others[2])
    assert drafted.drawn(1) is None


def test_what_was_foreseen_is_what_was_drafted_after_that_prefix() -> None:
    """Not after another."""
    drafted = Drafted()
    drafted.add(1, 7, 0.0, 0.5)

    assert drafted.foresaw(1, 7)
    assert not drafted.foresaw(1, 8)
    assert not drafted.foresaw(2, 7)


def test_a_flood_stays_bounded() -> None:
    """Of prefixes the oldest are forgotten, of edges after one prefix the newest are not kept."""
    drafted = Drafted(capacity=10)
    for number in range(100):
        drafted.add(number, 0, 0.0, 0.5)
        drafted.add(1000, number, 0.0, 0.5)

    for token in range(2 * WIDEST):
        drafted.add(1000, token, 0.0, 0.5)

    assert len(drafted) == 10
    assert not drafted.after(80)
    assert {edge.token for edge in drafted.after(1000)} >= set(range(90, 100))
    assert len(drafted.after(1000)) == WIDEST


@given(chance=st.floats(width=32, allow_nan=False))
def test_whatever_chance_is_claimed_it_is_a_probability(chance: float) -> None:
    """A foreign drafter may claim anything."""
    drafted = Drafted()
    drafted.add(1, 7, 0.0, chance)

    assert 0.0 < drafted.after(1)[0].chance <= 1.0
