import numpy as np
import torch

from specpipe.models.config import LlamaConfig, Rope
from specpipe.models.slab import BLOCK, Slab

_CONFIG = LlamaConfig(2, 16, 32, 4, 2, 4, 100, 64, 1e-5, Rope(), tied=False)


def _slab() -> Slab:
    return Slab(_CONFIG, lanes=3, slots=5, dtype=torch.float32)


def test_slots_are_rounded_up_to_whole_blocks() -> None:
    """What is shown to attention may be rounded up as well."""
    assert _slab().slots == BLOCK


def test_rows_are_written_where_their_lanes_and_slots_are() -> None:
    """Each row brings its key heads, then its value heads."""
    slab, entries = _slab(), torch.arange(2 * 4 * 4, dtype=torch.float32).view(8, 4)

    slab.write(1, slab.places(np.array([2, 0]), np.array([7, 3])), entries)

    keys, values = slab.layers[1]
    assert torch.equal(keys[2, :, 7], entries[0:2])
    assert torch.equal(values[2, :, 7], entries[2:4])
    assert torch.equal(keys[0, :, 3], entries[4:6])
    assert torch.equal(values[0, :, 3], entries[6:8])
    assert int((keys != 0).sum() + (values != 0).sum()) == 31
    assert not slab.layers[0][0].any()


def test_mending_a_lane_takes_out_what_is_no_number() -> None:
    """Entries with NaN or infinity become zero; all others, and other lanes, stay as they are."""
    slab = _slab()
    for slot, value in enumerate((1.0, float("nan"), float("inf"), 4.0)):
        for lane in (0, 1):
            entries = torch.full((4, 4), 7.0)
            entries[:, 2] = value
            slab.write(1, slab.places(np.array([lane]), np.array([slot])), entries)

    slab.mend(1)

    for part in slab.layers[1]:
        assert part[1, 0, :5].sum(-1).tolist() == [22.0, 0.0, 0.0, 25.0, 0.0]
        assert part[0, 0, :4].isfinite().all(-1).tolist() == [True, False, False, True]


def test_a_move_reads_all_before_it_writes() -> None:
    """Slots that are both source and target lose nothing, and other lanes are not touched."""
    slab = _slab()
    for slot in range(4):
        for lane in (0, 1):
            for layer in (0, 1):
                place = slab.places(np.array([lane]), np.array([slot]))
                slab.write(layer, place, torch.full((4, 4), float(1 + slot + 10 * lane + 100 * layer)))

    slab.move(1, np.array([0, 1, 2]), np.array([1, 2, 0]))

    for layer, (keys, values) in enumerate(slab.layers):
        for part in (keys, values):
            assert part[1, 0, :4, 0].tolist() == [
                13 + 100 * layer,
                11 + 100 * layer,
                12 + 100 * layer,
                14 + 100 * layer,
            ]
            assert part[0, 1, :4, 3].tolist() == [1 + 100 * layer, 2 + 100 * layer, 3 + 100 * layer, 4 + 100 * layer]
