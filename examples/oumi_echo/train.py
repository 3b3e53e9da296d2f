"""GRPO with Oumi: a model learns from a served echo, which pays for each letter.

    python -m examples.oumi_echo.train --steps 20                        a tiny model, on a CPU
    python -m examples.oumi_echo.train --model Qwen/Qwen2.5-0.5B-Instruct

Without --base-url it starts its own server, and stops it at the end.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from oumi import train
from oumi.core.configs import (
    DataParams,
    DatasetParams,
    DatasetSplitParams,
    GrpoParams,
    ModelParams,
    TrainerType,
    TrainingConfig,
    TrainingParams,
)

import echo_env
from examples.oumi_echo.rollouts import BASE_URL, lesson
from examples.tiny_model import make
from openenv.providers import Launch, ProcessProvider

GROUP = 8


def main() -> None:
    """Trains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a model's name or folder (a tiny one, made here)")
    parser.add_argument("--base-url", help="a server of echo_env (one of its own)")
    parser.add_argument("--steps", type=int, default=20, help="optimizer steps (20)")
    parser.add_argument("--output", help="where the trained model is saved")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ[BASE_URL] = asked.base_url or stack.enter_context(served()).url
        model = asked.model
        if model is None:
            model = str(folder / "tiny")
            make(folder / "tiny", lesson, steps=100)
        train(configured(model, asked.steps, asked.output or str(folder / "trained")))


def served() -> Any:
    """The echo's server, in a process of its own that ends with the block."""
    return ProcessProvider().launch(Launch(project=Path(echo_env.__file__).parent))


def configured(model: str, steps: int, output: str) -> TrainingConfig:
    """Oumi's configuration; what `rollouts` registers is asked for by name."""
    return TrainingConfig(
        model=ModelParams(model_name=model, model_max_length=256, torch_dtype_str="float32"),
        data=DataParams(
            train=DatasetSplitParams(datasets=[DatasetParams(dataset_name="echo_prompts")])
        ),
        training=TrainingParams(
            trainer_type=TrainerType.TRL_GRPO,
            reward_functions=["echo_reward"],
            grpo=GrpoParams(
                rollout_function="echo_rollouts",
                num_generations=GROUP,
                max_completion_length=32,
                temperature=1.0,
            ),
            max_steps=steps,
            per_device_train_batch_size=2 * GROUP,
            gradient_accumulation_steps=1,
            learning_rate=1e-3,
            logging_steps=1,
            save_steps=0,
            output_dir=output,
            enable_wandb=False,
            enable_tensorboard=False,
            trainer_kwargs={"use_cpu": not torch.cuda.is_available()},
        ),
    )


if __name__ == "__main__":
    main()
