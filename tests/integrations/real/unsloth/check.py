"""Unsloth on a CPU: its launcher and time limits with our 2048; GRPO with LoRA by our recipe."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

STEPS = 2
LIMIT_S = 1200


def printed(*command: str | Path) -> str:
    """What a script prints, with this Python.

    Raises:
        CalledProcessError: it failed.
    """
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True
    )
    print(done.stdout)
    return done.stdout


def check_training() -> None:
    began = time.monotonic()
    told = printed("-m", "examples.unsloth_2048.train", "--steps", str(STEPS))
    rewards = [float(found) for found in re.findall(r"mean reward (\S+)", told)]
    assert len(rewards) == STEPS, told
    for name in ("reward_std", "grad_norm"):
        values = [float(found) for found in re.findall(rf"'{name}': '?([\d.e+-]+|nan)", told)]
        assert len(values) == STEPS and all(value > 0 for value in values), (name, values)
    spent = time.monotonic() - began
    print(f"unsloth {version('unsloth')} GRPO, LoRA: rewards {rewards}, {spent:.0f} s in all")


if __name__ == "__main__":
    for name in ("launching.py", "calling.py"):
        printed(Path(__file__).with_name(name))
    check_training()
