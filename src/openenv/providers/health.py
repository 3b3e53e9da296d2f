"""Waiting for a server's first healthy answer: the only loop that polls."""

from __future__ import annotations

import http.client
import ipaddress
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request

from openenv._http import opener
from openenv.protocol.errors import NotReady, ProviderError

FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 0.5
ANSWER_S = 5.0
"""How long one answer may take: a server that is starved or paused accepts and says nothing."""
LOOK_S = 0.5
"""How often it is asked whether the server lives, which may cost a process."""
MAX_BODY_BYTES = 65536


def wait_until_healthy(
    url: str,
    timeout_s: float,
    *,
    is_alive: Callable[[], str | None] = lambda: None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Returns as soon as `GET url/health` answers with 200.

    Args:
        url: the server's address. On this machine no proxy is asked.
        timeout_s: how long to wait, in seconds.
        is_alive: says why the server will never answer, `None` while it may.
        headers: of each request.

    Raises:
        NotReady: the time is over; the text has the last answer.
        ProviderError: the server died.
    """
    deadline = time.monotonic() + timeout_s
    look_at = time.monotonic() + LOOK_S
    answer = "nothing answered"
    for pause in _pauses():
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        answer = ask(url, min(ANSWER_S, remaining), headers)
        if answer == "":
            return
        if time.monotonic() >= look_at:
            _check(is_alive)
            look_at = time.monotonic() + LOOK_S
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
    _check(is_alive)
    raise NotReady(
        f"no healthy server at {url} within {timeout_s:.3g} s (GET /health: {answer}); give a slow "
        "start more time, or look into its log"
    )


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE_S
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_PAUSE_S)


def _check(is_alive: Callable[[], str | None]) -> None:
    if why := is_alive():
        raise ProviderError(why)


def ask(url: str, timeout_s: float = ANSWER_S, headers: Mapping[str, str] | None = None) -> str:
    """Asks a server once for its health: empty if it has it, else what came instead."""
    question = Request(f"{url.rstrip('/')}/health", headers=dict(headers or {}))
    asking = opener(ProxyHandler({} if is_loopback(url) else None))
    try:
        with asking.open(question, timeout=timeout_s) as answer:
            answer.read(MAX_BODY_BYTES)
            return "" if answer.status == 200 else f"it answered {answer.status}"
    except HTTPError as error:
        error.close()
        return f"it answered {error.code}"
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
