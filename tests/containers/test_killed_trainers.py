"""What a trainer leaves that was interrupted, ended or killed, at every stage of a launch."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from openenv.providers import Launch, LocalDockerProvider
from openenv.providers.docker import Container
from openenv.providers.engine import Engine
from tests.containers.conftest import containers
from tests.serving import eventually

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("nothing_left")]
TRAINER = Path(__file__).parent / "trainer.py"


class Trainer:
    """A process that launches a container."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def says(self, word: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(word):
                return
        pytest.fail(f"the trainer ended before it said {word!r}")

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(90)


@contextmanager
def training(image: str, fault: str = "", timeout_s: float = 90.0) -> Iterator[Trainer]:
    process = subprocess.Popen(
        [sys.executable, TRAINER, image, fault, str(timeout_s)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield Trainer(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_what_runs(engine: Engine, faulty_image: str, number: int) -> None:
    with training(faulty_image) as trainer:
        trainer.says("running")
        assert len(containers(engine)) == 1
        code = trainer.end(number)
        assert code == -number or (number == signal.SIGINT and code in (-number, 130, 1))
        assert containers(engine) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_what_is_not_healthy_yet(
    engine: Engine, faulty_image: str, number: int
) -> None:
    with training(faulty_image, "sleep:600") as trainer:
        trainer.says("launching")
        eventually(lambda: containers(engine), 60)
        trainer.end(number)
        assert containers(engine) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_ended_at_any_moment_it_leaves_nothing(
    engine: Engine, faulty_image: str, delay_s: float, number: int
) -> None:
    with training(faulty_image, "sleep:600") as trainer:
        trainer.says("launching")
        time.sleep(delay_s)
        trainer.end(number)
        assert containers(engine) == []


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.1, 0.2, 0.4, 1.0])
def test_the_next_launch_removes_what_a_killed_one_left(
    engine: Engine, faulty_image: str, delay_s: float
) -> None:
    provider = LocalDockerProvider(engine="docker")
    with provider.launch(Launch(image=faulty_image, ready_timeout_s=90)) as living:
        assert isinstance(living, Container)
        with training(faulty_image, "sleep:600") as trainer:
            trainer.says("launching")
            time.sleep(delay_s)
            trainer.end(signal.SIGKILL)
        _let_the_engine_finish()
        with provider.launch(Launch(image=faulty_image, ready_timeout_s=90)):
            assert len(containers(engine)) == 2, "those of the living, and no other"
        assert living.problem() is None


def _let_the_engine_finish() -> None:
    """A command of the killed trainer may still be on its way to the engine."""
    eventually(lambda: not _runs_docker(), 60)


def _runs_docker() -> bool:
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = status.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:2] == [b"run"] and any(b"openenv.owner" in word for word in words):
            return True
    return False


def test_what_a_killed_trainer_left_is_found_by_name(engine: Engine, faulty_image: str) -> None:
    with training(faulty_image) as trainer:
        trainer.says("running")
        (left,) = containers(engine)
        trainer.end(signal.SIGKILL)
    assert containers(engine) == [left], "nobody was there to remove it"
    assert left in LocalDockerProvider(engine="docker").reap()
    assert containers(engine) == []
