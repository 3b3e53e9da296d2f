"""Oumi's `train()` with TRL_GRPO and a registered rollout function, by our recipe."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

STEPS = 2
EPISODES = 16
LIMIT_S = 1200


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "examples.oumi_echo.train"]
            + ["--steps", str(STEPS), "--output", folder],
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
        print(done.stdout)
        assert list(Path(folder).glob("*.safetensors")), "no model was saved"
    played = re.findall(r"(\d+) of (\d+) episodes, mean reward (\S+)", done.stdout)
    rewards = [float(reward) for *_, reward in played]
    assert [pair[:2] for pair in played] == [(str(EPISODES),) * 2] * STEPS, played
    grads = [float(found) for found in re.findall(r"'grad_norm': '?([\d.e+-]+|nan)", done.stdout)]
    assert len(grads) == STEPS and all(grad > 0 for grad in grads), grads
    spent = time.monotonic() - began
    print(
        f"oumi {version('oumi')} train(), TRL {version('trl')}: rewards {rewards}, grad_norm "
        f"{grads}, {spent:.0f} s in all"
    )


if __name__ == "__main__":
    main()
