from pathlib import Path

import pytest

from specpipe.errors import DeviceError
from specpipe.models import device
from specpipe.models.device import choose_device, choose_dtype, count_gpus, cpu_has_bfloat16


@pytest.mark.parametrize(
    ("name", "gpus", "turn", "chosen"),
    [
        ("auto", 0, 0, "cpu"),
        ("auto", 1, 0, "cuda:0"),
        ("auto", 1, 1, "cpu"),
        ("auto", 2, 1, "cuda:1"),
        ("cpu", 2, 0, "cpu"),
        ("cuda", 1, 1, "cuda:0"),
        ("cuda:1", 2, 0, "cuda:1"),
    ],
)
def test_the_device_is_what_was_named_or_the_next_gpu(name: str, gpus: int, turn: int, chosen: str) -> None:
    """Without GPUs it is the CPU."""
    assert choose_device(name, gpus, turn) == chosen


@pytest.mark.parametrize(("gpus", "said"), [(0, "no GPU"), (1, "one GPU"), (3, "3 GPUs")])
def test_a_gpu_that_is_not_there_is_refused_with_their_number(gpus: int, said: str) -> None:
    """The exit code is that of a wrong command line."""
    with pytest.raises(DeviceError, match=f"there is no GPU 7: .*{said}") as caught:
        choose_device("cuda:7", gpus)

    assert caught.value.exit_code == 64


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:-1", "cuda:x", "", "cuda 1"])
def test_what_is_no_device_is_refused(name: str) -> None:
    """The sentence says what may be written."""
    with pytest.raises(DeviceError, match="cuda:N"):
        choose_device(name, 8)


@pytest.mark.parametrize(
    ("flags", "known"), [("fpu avx512_bf16 sse", True), ("amx_bf16", True), ("avx512f avx512bw", False), ("", False)]
)
def test_bfloat16_needs_hardware_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, *, known: bool
) -> None:
    """Elsewhere it would be slower than float32."""
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(device, "_CPU_FACTS", facts)

    assert cpu_has_bfloat16() is known
    assert choose_dtype("auto", "cpu") == ("bfloat16" if known else "float32")
    assert choose_dtype("auto", "cuda:0") == "bfloat16"


def test_a_named_dtype_is_kept() -> None:
    """Also where the hardware is slow at it."""
    assert [choose_dtype(dtype, "cpu") for dtype in ("float32", "bfloat16")] == ["float32", "bfloat16"]


@pytest.mark.parametrize(
    ("visible", "counted"), [(None, 3), ("0,1", 2), ("2", 1), ("", 0), ("-1", 0), ("0,-1,1", 1), ("0,1,2,3,4", 3)]
)
def test_hidden_gpus_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, counted: int
) -> None:
    """CUDA hides what `CUDA_VISIBLE_DEVICES` does not list, and all after an invalid entry."""
    for index in range(3):
        (tmp_path / str(index)).mkdir()
    monkeypatch.setattr(device, "_DRIVER", tmp_path)
    monkeypatch.setattr(device, "_torch_knows_cuda", lambda: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    assert count_gpus() == counted


def test_the_driver_is_asked_where_it_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through its own command, if there is one."""
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\necho 'GPU 0: one (UUID: a)'\necho 'GPU 1: two (UUID: b)'\n")
    command.chmod(0o755)
    monkeypatch.setattr(device, "_DRIVER", tmp_path / "none")
    monkeypatch.setattr(device, "_torch_knows_cuda", lambda: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    assert count_gpus() == 2


def test_a_torch_without_cuda_sees_no_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are."""
    (tmp_path / "0").mkdir()
    monkeypatch.setattr(device, "_DRIVER", tmp_path)
    monkeypatch.setattr(device, "_torch_knows_cuda", lambda: False)

    assert count_gpus() == 0
