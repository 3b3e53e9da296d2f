"""One small model for all tests here, and trainers that are quick."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")

PROMPT = [{"role": "user", "content": "Say something."}]


class Trainers:
    """Makes trainers of a model that was taught to call the echo's `act`.

    Args:
        folder: where they may write.
        tiny: the model.
    """

    def __init__(self, folder: Path, tiny: Any) -> None:
        self._folder = folder
        self.tiny = tiny

    def __call__(self, prompts: int = 16, **options: Any) -> Any:
        """A trainer of a copy of the model; `args` are those of a `GRPOConfig`."""
        trl, datasets = (import_module(name) for name in ("trl", "datasets"))
        args: dict[str, Any] = {
            "output_dir": str(self._folder),
            "use_cpu": True,
            "bf16": False,
            "per_device_train_batch_size": 8,
            "num_generations": 8,
            "max_completion_length": 96,
            "learning_rate": 2e-3,
            "lr_scheduler_type": "constant",
            "report_to": "none",
            "save_strategy": "no",
            "logging_steps": 1,
            "disable_tqdm": True,
            "seed": 1,
            **options.pop("args", {}),
        }
        rows = {"prompt": [PROMPT] * prompts, "seed": list(range(prompts))}
        trainer = trl.GRPOTrainer(
            self.tiny.copy(),
            args=trl.GRPOConfig(**args),
            train_dataset=datasets.Dataset.from_dict(rows),
            processing_class=self.tiny.tokenizer,
            **options,
        )
        trainer.notes = noting(trainer)
        return trainer


def noting(trainer: Any) -> Any:
    """Keeps what a trainer logs of each rollout, step by step: `rewards` and `advantages`."""
    callback: Any = import_module("transformers").TrainerCallback

    class Notes(callback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rewards: list[list[float]] = []
            self.advantages: list[list[float]] = []

        def on_step_end(self, *_: Any, **__: Any) -> None:
            (rewards,) = trainer._logs["rewards"].values()
            self.rewards.append(list(rewards))
            self.advantages.append(list(trainer._logs["advantages"]))

    notes = Notes()
    trainer.add_callback(notes)
    return notes


@pytest.fixture(scope="session")
def tiny() -> Any:
    """The model; it takes some seconds to teach."""
    pytest.importorskip("trl", reason="pip install 'openenv-core[trl]'")
    from tests.integrations.trl.lessons import ECHO
    from tests.integrations.trl.tiny import taught

    return taught([ECHO])


@pytest.fixture
def trainers(tiny: Any, tmp_path: Path) -> Trainers:
    """Makes trainers."""
    return Trainers(tmp_path, tiny)


def column(trainer: Any, name: str) -> list[float]:
    """A metric of each step."""
    return [entry[name] for entry in trainer.state.log_history if name in entry]
