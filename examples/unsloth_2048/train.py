"""GRPO with Unsloth: a model learns to write strategies for 2048, which a served environment plays.

    python -m examples.unsloth_2048.train --steps 20                    a tiny model, on a CPU
    python -m examples.unsloth_2048.train --model unsloth/gpt-oss-20b   on a GPU

Without --base-url it starts its own server, and stops it at the end.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import game_2048_env
from examples.unsloth_2048.strategies import RewardFunction, lesson, questions, strategy_plays
from openenv.providers import Launch, ProcessProvider
from openenv.providers.provider import Running

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
TINY_LESSONS = 120
GROUP = 8


def main() -> None:
    """Trains, and says what the strategies earned."""
    asked = options()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ.setdefault("UNSLOTH_COMPILE_LOCATION", str(folder / "compiled"))
        if asked.model is None:
            os.environ["UNSLOTH_FORCE_CPU"] = "1"
        import unsloth  # noqa: F401  # before what it patches: trl, transformers

        url = asked.base_url or stack.enter_context(served()).url
        model, tokenizer = loaded(asked.model, asked.max_length, folder)
        reward = stack.enter_context(strategy_plays(url))
        rewards = trained((model, tokenizer), reward, asked, folder)
    for step, mean in enumerate(rewards, 1):
        print(f"step {step}: mean reward {mean:.3f}")


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a model that Unsloth loads (a tiny one, made here)")
    parser.add_argument("--base-url", help="a server of game_2048_env (one of its own)")
    parser.add_argument("--steps", type=int, default=20, help="optimizer steps (20)")
    parser.add_argument("--learning-rate", type=float, default=None)
    parser.add_argument("--max-length", type=int, default=None, help="tokens of prompt and answer")
    parser.add_argument("--output", help="where the trained LoRA weights are saved")
    asked = parser.parse_args()
    tiny = asked.model is None
    asked.max_length = asked.max_length or (512 if tiny else 2048)
    asked.learning_rate = asked.learning_rate or (4e-3 if tiny else 5e-5)
    return asked


def served() -> Running:
    """The game's server, in a process of its own that ends with the block."""
    folder = Path(game_2048_env.__file__).parent
    return ProcessProvider().launch(Launch(project=folder))


def loaded(name: str | None, max_length: int, folder: Path) -> tuple[Any, Any]:
    """A model with LoRA adapters, and its tokenizer; of no name, a tiny one."""
    import torch
    from unsloth import FastLanguageModel

    if name is None:
        from examples.tiny_model import make

        make(folder / "tiny", lesson, steps=TINY_LESSONS)
        how: dict[str, Any] = {"model_name": str(folder / "tiny"), "dtype": torch.float32}
    else:
        how = {"model_name": name}
    model, tokenizer = FastLanguageModel.from_pretrained(
        max_seq_length=max_length, load_in_4bit=name is not None, **how
    )
    rank = 8 if name is None else 4
    return FastLanguageModel.get_peft_model(
        model,
        r=rank,
        lora_alpha=rank * 2,
        target_modules=list(PROJECTIONS),
        use_gradient_checkpointing="unsloth" if name else False,
        random_state=3407,
    ), tokenizer


def trained(
    learner: tuple[Any, Any], reward: RewardFunction, asked: argparse.Namespace, folder: Path
) -> list[float]:
    """Trains a model with its tokenizer; the mean reward of each step."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = learner
    tiny = asked.model is None
    config = GRPOConfig(
        output_dir=str(folder / "trainer"),
        max_steps=asked.steps,
        learning_rate=asked.learning_rate,
        per_device_train_batch_size=2 * GROUP if tiny else 1,
        gradient_accumulation_steps=2 if tiny else GROUP,
        num_generations=GROUP,
        max_completion_length=asked.max_length // 2,
        temperature=1.0,
        lr_scheduler_type="constant" if tiny else "linear",
        optim="adamw_torch" if tiny else "adamw_8bit",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=tiny,
        bf16=not tiny,
    )
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[reward],
        args=config,
        train_dataset=Dataset.from_list(questions(asked.steps * 4)),
    )
    trainer.train()
    if asked.output:
        model.save_pretrained(asked.output)
        tokenizer.save_pretrained(asked.output)
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


if __name__ == "__main__":
    main()
