"""Following a workload's pods: a list, then what changes, whatever becomes of the connection."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator
from typing import Any

from openenv.providers.kubernetes_api import Cluster, ClusterError, patiently, pause_s
from openenv.providers.kubernetes_manifests import Json

WINDOW_S = 2
"""How long one watch lasts, and so the longest time without a look at what has no pod yet."""
GONE = 410


class _Expired(Exception):
    """The version to watch from is one that the server no longer has."""


def pods(cluster: Cluster, labels: dict[str, str]) -> Generator[dict[str, Json], None, None]:
    """The pods with these labels, by name: now, and again whenever one changes or time passes.

    A watch that breaks is taken up where it was; one whose version the server has forgotten (410)
    begins anew with a list. It never ends by itself.

    Raises:
        ClusterError: pods may not be listed or watched, or the server stayed away for too long.
    """
    while True:
        listed = cluster.list("Pod", labels)
        known = {pod["metadata"]["name"]: pod for pod in listed["items"]}
        yield dict(known)
        try:
            yield from _changes(cluster, labels, known, listed["metadata"]["resourceVersion"])
        except _Expired:
            continue


def _changes(
    cluster: Cluster, labels: dict[str, str], known: dict[str, Json], version: str
) -> Iterator[dict[str, Json]]:
    """Each change, from a version on."""
    while True:
        began, seen = time.monotonic(), False
        for event in _window(cluster, labels, version):
            seen = True
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                _apply(known, event)
                yield dict(known)
        yield dict(known)
        if not seen and time.monotonic() - began < WINDOW_S / 2:
            time.sleep(WINDOW_S / 4)  # a server that hangs up at once is not asked without end


def _apply(known: dict[str, Json], event: Json) -> None:
    name = event["object"]["metadata"]["name"]
    if event["type"] == "DELETED":
        known.pop(name, None)
    else:
        known[name] = event["object"]


def _window(cluster: Cluster, labels: dict[str, str], version: str) -> Iterator[Json]:
    """The events of one watch; a connection that breaks ends it early."""
    from urllib3.exceptions import HTTPError

    try:
        response = patiently(lambda: cluster.watch("Pod", labels, version, WINDOW_S))
    except ClusterError as error:
        if error.status == GONE:
            raise _Expired from None
        raise
    try:
        for line in _lines(response):
            event: Json = json.loads(line)
            if event["type"] == "ERROR":
                _interrupted(event["object"])
                return
            yield event
    except (HTTPError, ValueError):  # cut off, perhaps in the middle of a line
        return
    finally:
        response.close()


def _interrupted(status: Json) -> None:
    """What the server says in the place of an event."""
    if status.get("code") == GONE:
        raise _Expired
    time.sleep(pause_s(ClusterError(""), 0))


def _lines(response: Any) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
