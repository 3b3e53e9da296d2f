"""One HTTP request, as a check makes it: bounded, and an answer whatever happens."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from openenv.client.endpoint import Endpoint
from openenv.client.fetching import Redirects

MOST_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 65536


@dataclass(frozen=True)
class Answer:
    """What came.

    Attributes:
        status: HTTP's; `None` if no answer came.
        content: what its JSON holds; `None` if it is none.
        problem: why there is no answer, or none that is JSON.
    """

    status: int | None = None
    content: Any = None
    problem: str | None = None

    def field(self, name: str) -> Any:
        """A field of the object that came; `None` if it has none of that name."""
        return self.content.get(name) if isinstance(self.content, dict) else None


@dataclass(frozen=True)
class Site:
    """A server, seen as HTTP's clients see it.

    Attributes:
        url: its address; a path in it comes before all others.
        timeout_s: how long a request may take, in seconds.
        headers: of every request.
    """

    url: str
    timeout_s: float = 5.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def without_headers(self) -> Site:
        """The same server, asked by a stranger."""
        return replace(self, headers={})

    def get(self, path: str) -> Answer:
        """The answer of a GET."""
        return self._ask(Request(f"{self.url}{path}", headers=dict(self.headers)))

    def post(self, path: str, body: Any) -> Answer:
        """The answer of a POST of JSON."""
        headers = {"Content-Type": "application/json", **self.headers}
        sent = json.dumps(body).encode()
        return self._ask(Request(f"{self.url}{path}", sent, headers, method="POST"))

    def _ask(self, request: Request) -> Answer:
        try:
            try:
                answer = self._opener().open(request, timeout=self.timeout_s)
            except HTTPError as refusal:
                answer = refusal
            with answer:
                return _parsed(answer.status, self._body(answer))
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            return Answer(problem=f"no answer: {str(reason) or type(reason).__name__}")

    def _body(self, answer: Any) -> bytes:
        """What came in time; a server that sends a little now and then is cut off.

        Raises:
            TimeoutError: there is more to come.
        """
        deadline = time.monotonic() + self.timeout_s
        body = b""
        while (part := answer.read1(CHUNK_BYTES)) and len(body) <= MOST_BYTES:
            body += part
            if time.monotonic() > deadline:
                raise TimeoutError(f"it was not complete within {self.timeout_s:g} s")
        return body

    def _opener(self) -> OpenerDirector:
        """Proxies are not asked for this machine."""
        return build_opener(ProxyHandler({} if Endpoint(self.url).is_local else None), Redirects())


def _parsed(status: int, body: bytes) -> Answer:
    if len(body) > MOST_BYTES:
        return Answer(status, problem=f"the answer has more than {MOST_BYTES} bytes")
    try:
        return Answer(status, json.loads(body))
    except (ValueError, RecursionError):
        return Answer(status, problem=f"the answer is no JSON: {body[:60]!r}")
