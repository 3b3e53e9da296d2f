"""scripts/envs says what it does not know; what it does takes minutes, and CI does it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["nope_env"], 2, "no environment nope_env; there are "), (["--help"], 0, "fresh virtual")],
)
def test_what_it_is_asked(arguments: list[str], code: int, said: str) -> None:
    run = subprocess.run(
        [ROOT / "scripts/envs", *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == code
    assert said in run.stdout + run.stderr
