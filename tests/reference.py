"""What a model answers, from transformers and a plain loop: written apart from specpipe, which is compared with it."""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaForCausalLM


class Reference:
    """A Llama folder in transformers, `eager` attention, one request, no drafter."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        self._model: Any = LlamaForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")

    def logits(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the logits after each of `tokens`, float32 [tokens, vocabulary]."""
        with torch.inference_mode():
            logits: torch.Tensor = self._model(torch.tensor([list(tokens)]), use_cache=False).logits
        return logits[0].float()

    def greedy(self, prompt: Sequence[int], count: int, stop: Container[int] = ()) -> list[int]:
        """Return up to `count` tokens after `prompt`, ending with the first that is in `stop`.

        Of equal scores the lowest token id wins. Each token is computed from the whole text again.
        """
        tokens = list(prompt)
        while len(tokens) < len(prompt) + count:
            tokens.append(int(self.logits(tokens)[-1].argmax()))
            if tokens[-1] in stop:
                break
        return tokens[len(prompt) :]

    def margin(self, tokens: Sequence[int]) -> float:
        """Return by how much the best score after `tokens` exceeds the second best."""
        best = self.logits(tokens)[-1].topk(2).values
        return float(best[0] - best[1])
