"""The folder of a run: its checkpoint, and what is written of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import torch

from grpo_blackjack.config import BadConfig, Config, differences
from grpo_blackjack.progress import Progress
from grpo_blackjack.trainer import Trainer

MAY_DIFFER = ("output:", "blackjack_env.server_url:", "blackjack_env.sessions:", "checkpoint.")


class Folder:
    """Where a run is kept. Each file is there whole or not at all, whenever the run is killed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, config: Config, trainer: Trainer, progress: Progress) -> None:
        """Takes down all that the next step depends on."""
        state = {
            "config": config.model_dump_json(),
            "trainer": trainer.state_dict(),
            "progress": asdict(progress),
        }
        self._write("checkpoint.pt", lambda file: torch.save(state, file))

    def load(self) -> dict[str, Any]:
        """What `save` took down.

        Raises:
            BadConfig: there is no checkpoint here.
        """
        file = self.path / "checkpoint.pt"
        if not file.exists():
            raise BadConfig(f"{file}: no checkpoint is here; train.py makes one without --resume")
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        return state

    def resume(self, config: Config, trainer: Trainer) -> Progress:
        """Puts a trainer where the checkpoint was taken.

        Raises:
            BadConfig: there is none, or it is of a run that was configured otherwise.
        """
        state = self.load()
        changed = differences(Config.model_validate_json(state["config"]), config)
        if unlike := [line for line in changed if not line.startswith(MAY_DIFFER)]:
            raise BadConfig("the checkpoint is of another run: " + "; ".join(unlike))
        trainer.load_state_dict(state["trainer"])
        return Progress.restored(state["progress"])

    def write_text(self, name: str, text: str) -> None:
        """Writes a text file."""
        self._write(name, lambda file: file.write(text.encode()))

    def write_json(self, name: str, content: Any) -> None:
        """Writes a JSON file."""
        self.write_text(name, json.dumps(content, indent=2) + "\n")

    def _write(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        part = self.path / f"{name}.part"
        with part.open("wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path / name)
