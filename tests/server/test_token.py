"""A server that asks for a token: every endpoint does, and nothing is built before it is shown."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from openenv import ConfigurationError, ConnectFailed, EnvPool, GenericEnvClient
from openenv.server.app import create_app
from tests.server.worlds import World
from tests.serving import Served, serving

TOKEN = "open-sesame"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ENDPOINTS = [
    ("POST", "/reset"),
    ("POST", "/step"),
    ("GET", "/state"),
    ("GET", "/metadata"),
    ("GET", "/schema"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/nowhere"),
    ("DELETE", "/session"),
]
WRONG = [
    {},
    {"Authorization": "Bearer open-sesam"},
    {"Authorization": "Bearer open-sesamee"},
    {"Authorization": "Bearer "},
    {"Authorization": TOKEN},
    {"Authorization": f"Basic {TOKEN}"},
    {"Authorization": "Bearer \xff\xfe"},
    {"X-Authorization": f"Bearer {TOKEN}"},
]


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.fixture
def guarded() -> Iterator[Served]:
    with serving(World, token=TOKEN) as served:
        yield served


@pytest.mark.parametrize("headers", WRONG)
@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_every_endpoint_asks(
    guarded: Served, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = guarded.http(method, path, None, headers)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "UNAUTHORIZED"
    assert TOKEN not in answer.body.decode()


def test_who_lacks_it_learns_only_that_the_server_lives(guarded: Served) -> None:
    assert guarded.http("GET", "/health").json() == {"status": "healthy"}
    assert "max_sessions" in guarded.http("GET", "/health", None, BEARER).json()


@pytest.mark.parametrize("headers", WRONG)
def test_no_socket_without_it(guarded: Served, headers: dict[str, str]) -> None:
    with guarded.raw() as client:
        lines = [f"{name}: {value}" for name, value in headers.items()]
        assert client.upgrade(*lines).startswith(b"HTTP/1.1 401 ")
        assert b"OPENENV_CLIENT_TOKEN" in client.rest()
    assert guarded.http("GET", "/health", None, BEARER).json()["active_sessions"] == 0


def test_a_client_shows_it(guarded: Served) -> None:
    with GenericEnvClient(url(guarded), headers=BEARER) as env:
        env.reset()
    with EnvPool(url(guarded), 2, headers=BEARER) as pool:
        assert pool.reset(seeds=0).valid.all()


def test_a_client_shows_the_one_of_its_environment(
    guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENENV_CLIENT_TOKEN", TOKEN)
    with GenericEnvClient(url(guarded)) as env:
        env.reset()
    with (
        pytest.raises(ConnectFailed),
        GenericEnvClient(url(guarded), headers={"authorization": "x"}),
    ):
        pass


def test_a_client_without_it_is_told_how(guarded: Served) -> None:
    with pytest.raises(ConnectFailed, match="OPENENV_CLIENT_TOKEN") as refused:
        GenericEnvClient(url(guarded)).reset()
    assert refused.value.status == 401
    assert not refused.value.worth_retrying


def test_the_scheme_is_read_in_any_case(guarded: Served) -> None:
    answer = guarded.http("GET", "/schema", None, {"authorization": f"bEARER  {TOKEN}"})
    assert answer.status == 200


def test_it_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_TOKEN", TOKEN)
    with serving(World) as served:
        assert served.http("GET", "/schema").status == 401
        assert served.http("GET", "/schema", None, BEARER).status == 200


@pytest.mark.parametrize("token", ["", "two words", "sésame", "line\n"])
def test_a_token_that_no_header_carries_is_refused(token: str) -> None:
    with pytest.raises(ConfigurationError, match="one word") as refused:
        create_app(World, token=token)
    assert not token or token not in str(refused.value)


def test_a_public_address_without_one_is_warned_of() -> None:
    program = (
        "import sys, uvicorn; from openenv.server import run\n"
        "from tests.server.worlds import World\n"
        "from openenv.server.app import create_app\n"
        "with run.listen('0.0.0.0', 0) as listening:\n"
        "    for token in (None, 'word'):\n"
        "        print(run.server_for(create_app(World, token=token), listening)._greeting)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )
    assert told.stdout.count("warning") == 1
    assert "word" not in told.stdout
    assert json.dumps("OPENENV_TOKEN")[1:-1] in told.stdout
