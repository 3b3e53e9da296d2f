"""An engine that is stopped, killed, started anew, or out of disk: a daemon of the test's own."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv.protocol.errors import NotAvailable, ProviderError
from openenv.providers import Launch, LocalDockerProvider
from openenv.providers.engine import Engine
from tests.containers.conftest import containers
from tests.containers.daemons import Daemon, own_daemon
from tests.containers.images import built, write_faulty
from tests.serving import eventually

pytestmark = pytest.mark.timeout(300)
LABEL = "openenv.test-own=1"
IMAGE = "openenv-test-faulty:own"
DOCKERFILE_THAT_FILLS = "FROM openenv-base\nRUN dd if=/dev/zero of=/big bs=1M count=400\n"


@pytest.fixture
def faulty(engine: Engine, tmp_path: Path) -> Path:
    """The directory of the faulty image; the engine of other tests shows that Docker is here."""
    return write_faulty(tmp_path)


@pytest.fixture
def daemon(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    with own_daemon(1) as daemon:
        monkeypatch.setenv("DOCKER_HOST", daemon.host)
        yield daemon
    assert not _processes_of(daemon), "nothing of the daemon or its containers runs"


def _processes_of(daemon: Daemon) -> str:
    found = subprocess.run(
        ["pgrep", "--full", "--list-full", str(daemon.home)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return found.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_container_whose_engine_was_restarted(
    daemon: Daemon, faulty: Path, number: signal.Signals
) -> None:
    engine = Engine("docker")
    with built(engine, IMAGE, LABEL, faulty):
        provider = LocalDockerProvider()
        running = provider.launch(Launch(image=IMAGE, ready_timeout_s=90))
        daemon.stop(number)
        for refused in (running.stop, running.problem, LocalDockerProvider, provider.reap):
            with pytest.raises(NotAvailable, match="does not answer: .*is it running|start it"):
                refused()
        with pytest.raises(NotAvailable):
            provider.launch(Launch(image=IMAGE))
        daemon.start()
        eventually(lambda: running.problem() is not None, 60)
        running.stop()
        assert containers(engine, f"label={LABEL}") == []
        with provider.launch(Launch(image=IMAGE, ready_timeout_s=90)) as another:
            assert another.problem() is None
        assert containers(engine, f"label={LABEL}") == []


def test_a_container_whose_engine_hangs(
    daemon: Daemon, faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine("docker")
    with built(engine, IMAGE, LABEL, faulty):
        running = LocalDockerProvider().launch(Launch(image=IMAGE, ready_timeout_s=90))
        with monkeypatch.context() as impatient:
            impatient.setattr("openenv.providers.engine.PING_S", 1.0)
            impatient.setattr("openenv.providers.docker.STOP_S", 1.0)
            daemon.send(signal.SIGSTOP)
            try:
                for refused in (running.stop, LocalDockerProvider):
                    with pytest.raises(NotAvailable, match="its daemon hangs"):
                        refused()
            finally:
                daemon.send(signal.SIGCONT)
        running.stop()
        assert containers(engine, f"label={LABEL}") == []


def test_an_engine_without_disk(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_daemon(2, disk="300m") as daemon:
        monkeypatch.setenv("DOCKER_HOST", daemon.host)
        engine = Engine("docker")
        with built(engine, IMAGE, LABEL, faulty):
            provider = LocalDockerProvider()
            (faulty / "Dockerfile").write_text(DOCKERFILE_THAT_FILLS)
            with pytest.raises(ProviderError, match="No space left"):
                engine.call("build", "--no-cache", "--force-rm", str(faulty), timeout_s=120)
            filler = daemon.home / "data" / "filler"
            with filler.open("wb") as file, pytest.raises(OSError, match="No space"):
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
            with pytest.raises(ProviderError, match="no space left"):
                provider.launch(Launch(image=IMAGE, ready_timeout_s=90))
            filler.unlink()
            assert containers(engine, f"label={LABEL}") == []
            with provider.launch(Launch(image=IMAGE, ready_timeout_s=90)) as running:
                assert running.problem() is None
            assert containers(engine, f"label={LABEL}") == []
    assert not daemon.home.exists()
