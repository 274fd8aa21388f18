"""Who gives no sign of life, and for how long."""

from specpipe.supervisor.watch import Watch


def test_who_beats_is_never_silent() -> None:
    """At whatever pace, as long as something came between two looks."""
    watch = Watch(4.0)

    assert all(watch.look([1, 2], {1: count, 2: 3 * count}) == [] for count in range(20))


def test_who_stands_still_hangs_after_so_many_seconds_of_looking() -> None:
    """The others are not taken along, and a sign of life starts the count again."""
    watch = Watch(4.0)
    watch.look([1, 2], {1: 0, 2: 0})
    looks = [watch.look([1, 2], {1: count, 2: 0}) for count in range(1, 4)]
    saved = watch.look([1, 2], {1: 4, 2: 1})
    again = [watch.look([1, 2], {1: count, 2: 1}) for count in range(5, 9)]

    assert watch.every_s == 1.0
    assert [*looks, saved] == [[]] * 4
    assert again == [[], [], [], [2]]


def test_who_serves_and_is_not_known_hangs_too() -> None:
    """A worker of which the coordinator never heard is of no use to anyone."""
    watch = Watch(1.0)

    assert [watch.look([7], {}) for _ in range(4)] == [[], [], [], [7]]
    assert watch.every_s == 0.25


def test_what_is_not_looked_at_does_not_count() -> None:
    """Where the coordinator does not answer, nothing is known of the others."""
    watch = Watch(2.0)
    watch.look([1, 2], {1: 5, 2: 5})
    silent = [watch.look([1], {}) for _ in range(4)]

    assert silent[-1] == [1]
    assert watch.look([1, 2], {1: 6, 2: 6}) == []
