"""The peer's environment, and the servers of both packages that the tests share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.interop.calls import SCENARIOS
from tests.interop.serving import OURS, PEER, PEER_VENV, called_by_peer, served, uvicorn

TALK = [name for name in SCENARIOS if name != "broken"]


@pytest.fixture(scope="session")
def peer() -> None:
    """Skips, loudly, where the peer couldn't be installed; `scripts/venv peer` installs it."""
    if not (PEER_VENV / ".ready-peer").exists():
        pytest.skip(
            "NOT TESTED: interoperability, because the peer implementation isn't installed; "
            "run scripts/venv peer, which needs a package index"
        )


@pytest.fixture(scope="session")
def peer_server(peer: None) -> Iterator[str]:
    with served(*uvicorn(PEER, "tiny_app")) as url:
        yield url


@pytest.fixture(scope="session")
def peer_broken_server(peer: None) -> Iterator[str]:
    with served(*uvicorn(PEER, "broken_app")) as url:
        yield url


@pytest.fixture(scope="session")
def our_server() -> Iterator[str]:
    with served(*uvicorn(OURS, "tiny_app")) as url:
        yield url


@pytest.fixture(scope="session")
def our_broken_server() -> Iterator[str]:
    with served(*uvicorn(OURS, "broken_app")) as url:
        yield url


@pytest.fixture(scope="session")
def our_lenient_server() -> Iterator[str]:
    with served(*uvicorn(OURS, "lenient_app")) as url:
        yield url


@pytest.fixture(scope="session")
def our_command_server() -> Iterator[str]:
    """The same environment, served by `openenv serve`."""
    command = ("-m", "openenv.cli", "serve", "tests/interop/tiny.py:TinyEnv", "--port", "PORT")
    with served(OURS, *command, "--max-sessions", "4") as url:
        yield url


@pytest.fixture(scope="session")
def peer_on_our_server(peer: None, our_server: str) -> dict[str, Any]:
    """What the peer's clients got from our application under uvicorn."""
    return called_by_peer(our_server, *TALK)


@pytest.fixture(scope="session")
def peer_on_our_command(peer: None, our_command_server: str) -> dict[str, Any]:
    """What the peer's clients got from `openenv serve`."""
    return called_by_peer(our_command_server, *TALK)


@pytest.fixture(scope="session")
def peer_on_our_broken_server(peer: None, our_broken_server: str) -> dict[str, Any]:
    """What the peer's clients got from a server whose environment can't be built."""
    return called_by_peer(our_broken_server, "broken")
