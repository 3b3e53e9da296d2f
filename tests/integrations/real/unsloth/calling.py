"""Unsloth with LoRA, and our `environment_factory` and `rollout_func`: the model calls a tool."""

from __future__ import annotations

import os
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from echo_env.server.app import app
from openenv.integrations.trl import env_reward, environment_factory, rollout_func
from openenv.testing import serving

os.environ["UNSLOTH_FORCE_CPU"] = "1"

STEPS = 2
GROUP = 8
LORA = ["q_proj", "k_proj", "v_proj", "o_proj"]


def adapted(folder: Path) -> tuple[Any, Any]:
    """A model that calls tools, with LoRA adapters, and its tokenizer."""
    models: Any = import_module("unsloth").FastLanguageModel  # before TRL, which it patches
    from tests.integrations.trl.lessons import ECHO
    from tests.integrations.trl.tiny import taught

    tiny = taught([ECHO])
    tiny.model.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    torch: Any = import_module("torch")
    model, _ = models.from_pretrained(
        str(folder), max_seq_length=1024, load_in_4bit=False, dtype=torch.float32
    )
    adapters = {"r": 8, "lora_alpha": 16, "target_modules": LORA}
    return models.get_peft_model(
        model, **adapters, use_gradient_checkpointing=False
    ), tiny.tokenizer


def trained(learner: tuple[Any, Any], folder: Path, **ways: Any) -> list[dict[str, float]]:
    """What the trainer notes of each step."""
    model, tokenizer = learner
    trl: Any = import_module("trl")
    rows = {"prompt": [[{"role": "user", "content": "Say something."}]] * 8}
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=import_module("datasets").Dataset.from_dict(rows),
        args=trl.GRPOConfig(
            output_dir=str(folder / "trainer"),
            max_steps=STEPS,
            per_device_train_batch_size=GROUP,
            num_generations=GROUP,
            max_completion_length=96,
            learning_rate=1e-3,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
        ),
        **ways,
    )
    trainer.train()
    noted = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(noted) == STEPS, noted
    for entry in noted:
        assert entry["reward_std"] > 0 and entry["grad_norm"] > 0, entry
    return noted


def silent(_: Any) -> None:
    """Tells the model nothing of the first observation."""


def tell(way: str, noted: list[dict[str, float]], began: float) -> None:
    rewards = [round(entry["reward"], 3) for entry in noted]
    print(f"unsloth {way}, LoRA: rewards {rewards}, {time.monotonic() - began:.0f} s")


def main() -> None:
    began = time.monotonic()
    with serving(app) as url, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        learner = adapted(folder / "tiny")
        print(f"unsloth: a model with LoRA, {time.monotonic() - began:.0f} s")
        began = time.monotonic()
        played = environment_factory(url, tools="actions", reset_text=silent)
        noted = trained(learner, folder, environment_factory=played)
        played.close_all()
        for entry in noted:
            assert entry["tools/call_frequency"] > 0.5, entry
            assert entry["tools/failure_frequency"] == 0, entry
        tell("environment_factory", noted, began)
        began = time.monotonic()
        plays = rollout_func(url, tools="actions", reset_text=silent)
        noted = trained(learner, folder, rollout_func=plays, reward_funcs=env_reward)
        tell("rollout_func", noted, began)
        left = app.state.openenv.active_sessions
    assert left == 0, f"{left} sessions were left"


if __name__ == "__main__":
    main()
