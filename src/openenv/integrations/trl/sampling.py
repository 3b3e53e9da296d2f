"""Turns of a trainer's own model, sampled as one batch, with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from importlib import import_module
from typing import Any

from openenv.integrations.trl.rounds import Sampled, Wanted
from openenv.protocol.errors import ConfigurationError
from openenv.protocol.extras import needs


def sampler(trainer: Any) -> TrainerSampler:
    """What samples turns of a trainer's model.

    Raises:
        ConfigurationError: the model is served by vLLM.
        MissingPackage: TRL is not installed.
    """
    if trainer.args.use_vllm:
        raise ConfigurationError(
            "rollout_func samples with the trainer's own model: use GRPOConfig(use_vllm=False), or "
            "environment_factory, which TRL plays with vLLM too"
        )
    return TrainerSampler(trainer)


class TrainerSampler:
    """Samples turns with a trainer's model and its generation settings."""

    def __init__(self, trainer: Any) -> None:
        with needs("openenv-core[trl]"):
            self._torch: Any = import_module("torch")
            self._unwrapped: Any = import_module("trl.models").unwrap_model_for_generation
        self._trainer = trainer
        self._pad = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)

    def __call__(self, wanted: Sequence[Wanted]) -> list[Sampled]:
        """One turn for each; a turn ends at the model's end-of-turn token, or when it is full."""
        torch, trainer = self._torch, self._trainer
        longest = max(len(each.prompt_ids) for each in wanted)
        blanks = [longest - len(each.prompt_ids) for each in wanted]
        rows = [[self._pad.pad_token_id] * n + w.prompt_ids for n, w in zip(blanks, wanted)]  # noqa: B905
        seen = [[0] * n + [1] * (longest - n) for n in blanks]
        record = _Record(torch, trainer.args.temperature)
        settings = copy(trainer.generation_config)
        settings.max_new_tokens = max(each.most for each in wanted)
        with (
            self._unwrapped(
                trainer.model_wrapped,
                trainer.accelerator,
                generation_kwargs=trainer.generation_kwargs,
            ) as model,
            torch.no_grad(),
        ):
            whole = model.generate(
                input_ids=torch.tensor(rows, device=model.device),
                attention_mask=torch.tensor(seen, device=model.device),
                generation_config=settings,
                logits_processor=[record],
            )
        logprobs = record.finished(whole)
        ends = _ends(settings.eos_token_id)
        turns = zip(whole[:, longest:].tolist(), logprobs, wanted, strict=True)
        return [_cut(ids, probabilities, ends, each.most) for ids, probabilities, each in turns]


class _Record:
    """Notes the probability of each token that is sampled, without keeping those of all others.

    `generate` shows it a step's logits, and with the next step's the token that was taken.
    """

    def __init__(self, torch: Any, temperature: float) -> None:
        self._torch = torch
        self._temperature = temperature
        self._last: Any = None
        self._taken: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Takes a step down: tokens of shape `(batch, sequence)`, logits `(batch, vocabulary)`."""
        self._take(input_ids)
        self._last = self._torch.log_softmax(scores.float() / self._temperature, dim=-1)
        return scores

    def finished(self, whole: Any) -> list[list[float]]:
        """The logarithms of all sampled tokens' probabilities, of shape `(batch, sampled)`."""
        self._take(whole)
        rows: list[list[float]] = self._torch.cat(self._taken, dim=1).tolist()
        return rows

    def _take(self, input_ids: Any) -> None:
        if self._last is not None:
            self._taken.append(self._last.gather(1, input_ids[:, -1:]))


def _ends(token_ids: Any) -> frozenset[int]:
    with suppress(TypeError):
        return frozenset(token_ids)
    return frozenset([token_ids])


def _cut(ids: list[int], logprobs: list[float], ends: frozenset[int], most: int) -> Sampled:
    """A row up to its end-of-turn token, and no longer than it may be."""
    length = next((n for n, token in enumerate(ids, 1) if token in ends), len(ids))
    length = min(length, most)
    return Sampled(ids[:length], logprobs[:length])
