"""Made-up problems of the shapes of a model, on which another order of summing shows at once."""

from collections.abc import Iterable, Iterator

import torch

from specpipe.models.attention import Arrangement, Span
from specpipe.models.config import LlamaConfig
from specpipe.models.linear import Linear
from specpipe.models.slab import BLOCK
from specpipe.models.widths import Probe

_SHOWN = (BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK, 5 * BLOCK)


def linear_probes(layers: Iterable[Linear]) -> Iterator[Probe]:
    """Yield a probe for each different shape among `layers`."""
    for like in {layer.shape: layer for layer in layers}.values():
        yield _linear_probe(like)


def attention_probes(config: LlamaConfig, dtype: torch.dtype, device: torch.device) -> Iterator[Probe]:
    """Yield probes of attention over different numbers of slots."""
    for shown in _SHOWN:
        yield _attention_probe(config, shown, dtype, device)


def _linear_probe(like: Linear) -> Probe:
    """Return a layer of the shape of `like` and its rows, whose exact products are 0: what is left is rounding.

    Of w = (a, -a') and x = (b, b'), where the dash is one permutation, each product is a sum of pairs that
    cancel, so that its bits are nothing but the order in which it was summed.
    """
    outputs, inputs = like.shape
    noise = torch.Generator().manual_seed(outputs)
    half = inputs // 2
    order = torch.randperm(half, generator=noise)

    def paired(count: int, sign: int) -> torch.Tensor:
        values = torch.randn(count, half, generator=noise) ** 3  # small beside large: much to round
        pairs = torch.cat((values, sign * values[:, order]), 1)
        return torch.nn.functional.pad(pairs, (0, inputs - 2 * half)).to(like.device, like.dtype)

    pattern = paired(min(outputs, 64), -1)
    weight = pattern.repeat(-(-outputs // len(pattern)), 1)[:outputs].contiguous()
    return Probe(Linear(weight), lambda count: paired(count, 1))


def _attention_probe(config: LlamaConfig, shown: int, dtype: torch.dtype, device: torch.device) -> Probe:
    noise = torch.Generator().manual_seed(shown)
    group = config.heads // config.kv_heads

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=noise).to(device, dtype)

    keys, values = (drawn(1, config.kv_heads, shown, config.head_size) for _ in range(2))

    def run(rows: torch.Tensor) -> torch.Tensor:
        mask = torch.zeros(1, 1, len(rows) * group, shown, dtype=dtype, device=device)
        return Arrangement((Span(0, 1, len(rows), shown, mask),), None, None).attend(rows, keys, values)

    return Probe(run, lambda count: drawn(count, config.heads, config.head_size))
