import pytest
import torch

from specpipe.models.config import LlamaConfig, Rope
from specpipe.models.linear import Linear
from specpipe.models.probes import attention_probes, linear_probes
from specpipe.models.widths import WIDTH, same_bits

_CONFIG = LlamaConfig(2, 16, 32, 4, 2, 4, 100, 64, 1e-5, Rope(), tied=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_products_of_a_linear_probe_are_rounding_and_nothing_else(dtype: torch.dtype) -> None:
    """Exactly they are 0; what is left is small, and hardly ever nothing."""
    (probe,) = linear_probes([Linear(torch.zeros(100, 65, dtype=dtype)), Linear(torch.ones(100, 65, dtype=dtype))])

    products = probe.run(probe.rows(16)).float()

    assert products.shape == (16, 100)
    assert float(products.abs().max()) < 1e-2
    assert float((products != 0).float().mean()) > 0.5


def test_each_shape_is_probed_once() -> None:
    """Layers of one shape run the same kernels."""
    layers = [Linear(torch.zeros(shape)) for shape in ((8, 4), (8, 4), (4, 8))]

    assert len(list(linear_probes(layers))) == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_usual_width_is_proved_on_this_machine(dtype: torch.dtype) -> None:
    """A row's bits depend neither on its place nor on its neighbours."""
    probes = [
        *attention_probes(_CONFIG, dtype, torch.device("cpu")),
        *linear_probes([Linear(torch.zeros(512, 64, dtype=dtype))]),
    ]

    with torch.inference_mode():
        assert all(same_bits(probe, WIDTH) for probe in probes)
