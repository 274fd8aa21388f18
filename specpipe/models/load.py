"""From settings to a model that is ready to run, for either role."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from specpipe.errors import ModelError
from specpipe.models.catalogue import resolve_draft, resolve_target
from specpipe.models.config import LlamaConfig, read_config
from specpipe.models.device import choose_device, choose_dtype
from specpipe.models.llama import LlamaExecutor
from specpipe.models.probes import attention_probes, linear_probes
from specpipe.models.seam import Executor, Facts
from specpipe.models.simulated import CONTEXT, SimulatedExecutor
from specpipe.models.weights import Weights, read_weights
from specpipe.models.widths import Widths, proved_widths
from specpipe.settings import EngineSettings, ModelSettings, Settings

LONGEST = 8192
SPARE_SLOTS = 1024
PREFILL_ROWS = 128

Role = Literal["drafter", "verifier"]


def load_executor(role: Role, settings: Settings, spare_slots: int = SPARE_SLOTS) -> Executor | None:
    """Return the model of a role, loaded; None for a drafter whose draft is no model.

    Each lane has `spare_slots` KV entries beyond the context, for branches. Without a context in the
    settings it is the model's own limit, but at most `LONGEST`. Sets the number of torch's threads.
    Raises `ModelError` or `DeviceError`.
    """
    model = settings.target if role == "verifier" else settings.draft
    if model.threads:
        torch.set_num_threads(model.threads)
    target = resolve_target(settings.target.name, trust_remote_code=settings.target.trust_remote_code)
    if role == "verifier":
        return _simulated(role, settings, spare_slots) if target is None else _target(target, settings, spare_slots)
    draft = resolve_draft(model.name, settings.target.name, trust_remote_code=model.trust_remote_code)
    if draft.simulated != (target is None) and (draft.simulated or draft.folder is not None):
        raise ModelError("the simulated device drafts for itself only; use it as the target and as the draft")
    if draft.simulated:
        return _simulated(role, settings, spare_slots)
    if draft.folder is None or target is None:
        return None
    return _draft(draft.folder, target, settings, spare_slots)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model runs, and in which arithmetic."""

    device: torch.device
    dtype: torch.dtype

    @classmethod
    def of(cls, model: ModelSettings, turn: int) -> "Place":
        """Choose for `auto`; raise `DeviceError` for a device that torch does not have."""
        device = torch.device(choose_device(model.device, torch.cuda.device_count(), turn))
        return cls(device, getattr(torch, choose_dtype(model.dtype, device.type)))


def _target(folder: Path, settings: Settings, spare: int) -> Executor:
    place, config = Place.of(settings.target, 0), read_config(folder)
    if config.borrows_embedding:
        raise ModelError(f"{folder} is a draft without an input embedding of its own; name another target")
    weights = read_weights(folder, config, place.dtype, place.device)
    facts = _facts(settings.target.name, config, settings.engine, place, spare)
    if not settings.engine.batch_invariant:
        return LlamaExecutor(config, weights, facts)
    widths = _widths(config, weights, place)
    return LlamaExecutor(config, weights, replace(facts, block_rows=min(widths.proved)), widths)


def _draft(folder: Path, target: Path, settings: Settings, spare: int) -> Executor:
    place, config = Place.of(settings.draft, 1), read_config(folder)
    vocabulary = min(config.vocabulary, read_config(target).vocabulary)
    weights = read_weights(folder, config, place.dtype, place.device, embedding_folder=target, below=vocabulary)
    facts = _facts(settings.draft.name, config, settings.engine, place, spare)
    return LlamaExecutor(config, weights, replace(facts, vocabulary=vocabulary, token_ids=weights.token_ids))


def _facts(
    name: str,
    config: LlamaConfig,
    engine: EngineSettings,
    place: Place,
    spare: int,
) -> Facts:
    """Return the facts of a model whose head covers its whole vocabulary."""
    context = min(config.context, engine.context or LONGEST)
    return Facts(
        name=name,
        vocabulary=config.vocabulary,
        context=context,
        lanes=engine.requests,
        slots=context + spare,
        prefill_rows=PREFILL_ROWS,
        device=str(place.device),
        dtype=str(place.dtype).removeprefix("torch."),
        threads=torch.get_num_threads(),
    )


def _widths(config: LlamaConfig, weights: Weights, place: Place) -> Widths:
    with torch.inference_mode():
        probes = [*attention_probes(config, place.dtype, place.device), *linear_probes(weights.linears())]
        return Widths(proved_widths(probes))


def _simulated(role: Role, settings: Settings, spare: int) -> Executor:
    context = min(settings.engine.context or CONTEXT, CONTEXT)
    return SimulatedExecutor(role, settings.simulated, settings.engine.requests, context + spare, context)
