"""`openenv web` in a process of its own, as a user runs it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.server.worlds import World
from tests.serving import serving

WEB = [sys.executable, "-m", "openenv.cli", "web"]


@contextmanager
def shown(*arguments: str, end: int = signal.SIGTERM, **variables: str) -> Iterator[str]:
    """The page's address, until it is told to end; it does so quietly."""
    command = [*WEB, "--port", "0", *arguments]
    environ = os.environ | variables
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            found = re.search(r" is at (http://\S+/web/\S*) ", said)
            assert found, said + process.stderr.read()
            yield found[1]
        finally:
            process.send_signal(end)
            rest = process.stderr.read()
    assert (process.returncode, rest) == (0, "")


def refused(*arguments: str) -> tuple[int, str]:
    """The exit code and the words of a page that is not served."""
    run = subprocess.run(
        [*WEB, *arguments], capture_output=True, text=True, timeout=45, check=False
    )
    return run.returncode, run.stderr


def fetched(url: str, token: str | None = None) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    asked = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_it_shows_a_running_server_until_it_is_told_to_end(end: int) -> None:
    with serving(World, token="word") as served:
        far = f"http://127.0.0.1:{served.port}"
        with shown(f"{far}/web/", end=end, OPENENV_CLIENT_TOKEN="word") as address:
            url, _, key = address.partition("#token=")
            metadata = url.replace("/web/", "/metadata")
            assert fetched(f"{url}config.json")["target"] == far
            assert fetched(metadata, key)["name"] == "World"
            with pytest.raises(HTTPError, match="401"):  # another user of this machine
                fetched(metadata)


def test_a_server_may_come_later() -> None:
    with shown("http://127.0.0.1:9") as url:
        assert fetched(f"{url}config.json")["target"] == "http://127.0.0.1:9"


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, said = refused("http://127.0.0.1:9", "--port", port)
    assert (code, "choose another port" in said) == (1, True)


@pytest.mark.parametrize("url", ["ftp://example.org", "http://", "http://a b", "http://[::1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    code, said = refused(url)
    assert (code, "must be a server's address" in said) == (1, True)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    code, said = refused("http://me:secret-word@example.org")
    assert (code, "OPENENV_CLIENT_TOKEN" in said) == (2, True)
    assert "secret-word" not in said
