"""What Oumi is told by name: the prompts, the rollout function and the reward."""

from __future__ import annotations

import os
from math import nan
from random import Random
from statistics import fmean
from typing import Any

import oumi.datasets  # noqa: F401  # before oumi.core.datasets: they import each other
import pandas as pd
import torch
from oumi.core.datasets import BaseExperimentalGrpoDataset
from oumi.core.registry import RegistryType, register, register_dataset

from echo_env import EchoAction, EchoEnv
from openenv import OpenEnvError

PROMPT = "Say something to the echo."
BASE_URL = "ECHO_BASE_URL"
"""The variable that says where the echo is served."""


@register_dataset("echo_prompts")
class EchoPrompts(BaseExperimentalGrpoDataset):
    """The same prompt, again and again."""

    default_dataset = "echo_prompts"

    def _load_data(self) -> pd.DataFrame:
        return pd.DataFrame({"prompt": [[{"role": "user", "content": PROMPT}]] * 256})

    def transform(self, sample: pd.Series) -> dict[str, Any]:
        return {"prompt": sample["prompt"]}


@register("echo_rollouts", RegistryType.ROLLOUT_FUNCTION)
def echo_rollouts(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
    """One answer for each prompt, as it was sampled, and what the echo pays for it."""
    prompt_ids, completion_ids, logprobs = sampled(prompts, trainer)
    tokenizer = trainer.processing_class
    answers = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
    with EchoEnv(base_url=os.environ[BASE_URL]).sync() as echo:
        rewards = [reward_of(echo, answer) for answer in answers]
    paid = [reward for reward in rewards if reward is not None]
    print(f"{len(paid)} of {len(rewards)} episodes, mean reward {fmean(paid or [nan]):.3f}")
    return {
        "prompt_ids": prompt_ids,
        "completion_ids": completion_ids,
        "logprobs": logprobs,
        "env_reward": rewards,
    }


@register("echo_reward", RegistryType.REWARD_FUNCTION)
def echo_reward(env_reward: list[float | None], **_: Any) -> list[float | None]:
    """What the echo paid; `None`, which the trainer leaves out, where it could not be asked."""
    return env_reward


def reward_of(echo: Any, message: str) -> float | None:
    """What an episode of one message pays."""
    try:
        echo.reset()
        reward: float | None = echo.step(EchoAction(message=message)).reward
    except OpenEnvError as error:
        print(f"the echo could not be asked: {error}")
        return None
    return reward


def sampled(
    prompts: list[Any], trainer: Any
) -> tuple[list[list[int]], list[list[int]], list[list[float]]]:
    """The tokens of the prompts and of the answers, and the logarithms of their probabilities."""
    tokenizer, model = trainer.processing_class, trainer.accelerator.unwrap_model(trainer.model)
    asked = tokenizer.apply_chat_template(
        prompts,
        add_generation_prompt=True,
        padding=True,
        padding_side="left",
        return_dict=True,
        return_tensors="pt",
    ).to(model.device)
    with torch.no_grad():
        made = model.generate(
            **asked,
            max_new_tokens=trainer.max_completion_length,
            do_sample=True,
            temperature=trainer.temperature,
            output_logits=True,
            return_dict_in_generate=True,
        )
    width = asked["input_ids"].shape[1]
    logits = torch.stack(made.logits, dim=1) / trainer.temperature
    answered = made.sequences[:, width:]
    chosen = logits.log_softmax(-1).gather(2, answered.unsqueeze(2)).squeeze(2)
    lengths = [length_of(row, tokenizer.eos_token_id) for row in answered.tolist()]
    return (
        [row[mask.bool()].tolist() for row, mask in zip(*asked.values(), strict=True)],
        [row[:length].tolist() for row, length in zip(answered, lengths, strict=True)],
        [row[:length].tolist() for row, length in zip(chosen, lengths, strict=True)],
    )


def length_of(ids: list[int], end: int) -> int:
    """How many tokens an answer has, with its end."""
    return ids.index(end) + 1 if end in ids else len(ids)


def lesson(rng: Random) -> tuple[str, str]:
    """An answer of a few letters; the echo pays by length."""
    return PROMPT, "".join(rng.choices("abcdefgh", k=rng.randint(1, 10)))
