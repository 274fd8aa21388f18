"""One linear layer: its weight packed once for the CPU's matrix kernels where PyTorch can, plain elsewhere."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

_ROWS = 8

# PyTorch's own compiler packs weights with these; there is no public door to them.
_PACK = "_reorder_linear_weight"
_RUN = "_linear_pointwise"


class Linear:
    """`x @ weight.T + bias` for x [rows, in]; weight [out, in] and bias [out] in the dtype of x."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.shape = (weight.shape[0], weight.shape[1])
        self.dtype = weight.dtype
        self.device = weight.device
        self._bias = bias
        self._run: Callable[..., torch.Tensor] | None = None
        self._weight = weight
        if can_pack(weight):
            self._run = _operator(_RUN)
            self._weight = _operator(_PACK)(weight, _ROWS)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return [rows, out]."""
        if self._run is None:
            return functional.linear(x, self._weight, self._bias)
        return self._run(x, self._weight, self._bias, "none", [], "")


def can_pack(weight: torch.Tensor) -> bool:
    """Return whether PyTorch packs weights of this kind on this machine."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if not all(hasattr(torch.ops.mkldnn, name) for name in (_PACK, _RUN)):
        return False
    return weight.dtype is torch.float32 or bool(_operator("_is_mkldnn_bf16_supported")())


def _operator(name: str) -> Any:
    return getattr(torch.ops.mkldnn, name)
