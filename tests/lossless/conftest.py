"""One tiny target, and the instances that all tests of this folder share: with a noised draft, and with itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.instances import Running, pair, running
from tests.reference import Reference
from tests.tiny import tiny_llama


@pytest.fixture(scope="package")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target."""
    return tiny_llama(tmp_path_factory.mktemp("models") / "target", 1)


@pytest.fixture(scope="package")
def noised(target: Path) -> Path:
    """A draft of which about 0.7 of the guesses are right, so that every length of a block is accepted at times."""
    return tiny_llama(target.with_name("noised"), 2, noise_of=target, scale=0.03)


@pytest.fixture(scope="package")
def reference(target: Path) -> Reference:
    """The target in transformers."""
    return Reference(target)


@pytest.fixture(scope="package")
def noisy(target: Path, noised: Path) -> Iterator[Running]:
    """An instance with the noised draft."""
    with running(pair(target, noised)) as started:
        yield started


@pytest.fixture(scope="package")
def copied(target: Path) -> Iterator[Running]:
    """An instance whose draft is the target, so that every guess is right."""
    with running(pair(target, target)) as started:
        yield started
