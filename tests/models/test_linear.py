import pytest
import torch
from torch.nn import functional

from specpipe.models.linear import Linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 8, 130])
def test_a_packed_layer_computes_what_the_plain_one_does(dtype: torch.dtype, rows: int, *, biased: bool) -> None:
    """Whatever the number of rows, within the rounding of the dtype."""
    noise = torch.Generator().manual_seed(rows)
    weight, x = (torch.randn(shape, generator=noise).to(dtype) for shape in ((48, 32), (rows, 32)))
    bias = torch.randn(48, generator=noise).to(dtype) if biased else None

    with torch.inference_mode():
        ours = Linear(weight, bias)(x).float()
        exact = functional.linear(x.double(), weight.double(), None if bias is None else bias.double()).float()

    assert torch.allclose(
        ours, exact, rtol=2**-7 if dtype is torch.bfloat16 else 1e-5, atol=1e-2 if dtype is torch.bfloat16 else 1e-5
    )
