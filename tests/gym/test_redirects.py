"""Where `/schema` has moved to: whoever it is, it gets no headers that are another's."""

import ssl
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from openenv import ConnectFailed, GenericEnvClient
from openenv.gym import GymEnv
from tests.client.peers import replying, scripted, self_signed

HEADERS = {"Authorization": "Bearer s3cret", "X-Team": "blue"}


class Asked:
    """Says where something has moved to, or that it has nothing; keeps what it was told."""

    def __init__(self, location: str | None = None) -> None:
        self.location = location
        self.heard: list[tuple[str, str | None, str | None]] = []

    def __call__(self, connection: ServerConnection, request: Request) -> Response:
        said = request.headers
        self.heard.append((request.path, said.get("Authorization"), said.get("X-Team")))
        if self.location is None or request.path != "/schema":
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing\n")
        answer = connection.respond(HTTPStatus.FOUND, "over there\n")
        answer.headers["Location"] = self.location
        return answer


def ask(url: str, why: str) -> None:
    with pytest.raises(ConnectFailed, match=why):
        GymEnv(GenericEnvClient(url, headers=HEADERS))


def test_the_same_host_gets_the_headers_again() -> None:
    asked = Asked("/moved/schema")
    with scripted(replying(), process_request=asked) as url:
        ask(url, "HTTP 404")
    assert asked.heard == [
        ("/schema", "Bearer s3cret", "blue"),
        ("/moved/schema", "Bearer s3cret", "blue"),
    ]


def test_another_host_gets_no_headers() -> None:
    other = Asked()
    with scripted(replying(), process_request=other) as far:
        first = Asked(f"{far}/schema")
        with scripted(replying(), process_request=first) as url:
            ask(url, "HTTP 404")
    assert first.heard == [("/schema", "Bearer s3cret", "blue")]
    assert other.heard == [("/schema", None, None)]


def test_nothing_leads_out_of_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = self_signed(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    context: Any = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    other = Asked()
    with scripted(replying(), process_request=other) as plain:
        first = Asked(f"{plain}/schema")
        with scripted(replying(), process_request=first, ssl=context) as url:
            ask(url.replace("http://127.0.0.1", "https://localhost"), "HTTP 302 for /schema")
    assert len(first.heard) == 1
    assert other.heard == []
