"""Waiting until a workload's pods serve, and no longer than there is hope."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.kubernetes_api import Cluster, ClusterError
from openenv.providers.kubernetes_manifests import Json, Workload
from openenv.providers.kubernetes_verdicts import (
    Problem,
    first_problem,
    is_leaving,
    is_ready,
    problem_of_deployment,
    summary,
)
from openenv.providers.kubernetes_watch import pods

LOG_LINES = 50
_EVENTS_TOLD = 5


def wait_until_ready(
    cluster: Cluster, workload: Workload, replicas: int, timeout_s: float
) -> list[Json]:
    """Returns the pods as soon as so many are ready, and no others of the workload serve.

    Raises:
        NotReady: they were not in time. The text says where each stands, and has the last log.
        ProviderError: they never will be: the text has the cluster's reason.
    """

    def enough(found: dict[str, Json]) -> bool:
        staying = [pod for pod in found.values() if not is_leaving(pod)]
        return len(staying) == replicas and all(map(is_ready, staying))

    return _wait(cluster, workload, enough, timeout_s, f"{replicas} ready pod(s)")


def wait_until_placed(cluster: Cluster, workload: Workload, timeout_s: float) -> list[Json]:
    """Returns the pods as soon as one of them has a node.

    Raises:
        NotReady: none had in time.
        ProviderError: none ever will.
    """

    def placed(found: dict[str, Json]) -> bool:
        return any("hostIP" in pod.get("status", {}) for pod in found.values())

    return _wait(cluster, workload, placed, timeout_s, "a node for its pod")


def current_problem(cluster: Cluster, workload: Workload) -> Problem | None:
    """What keeps a workload from serving, as far as waiting would not help."""
    found = cluster.list("Pod", workload.selector)["items"]
    problem = first_problem(found)
    if problem is None and not found:
        problem = _of_deployment(cluster, workload)
    return problem if problem and problem.lasting else None


def last_words(cluster: Cluster, workload: Workload, lines: int = LOG_LINES) -> str:
    """The end of the log of a pod that has one: of one in trouble before one that is well."""
    found = cluster.list("Pod", workload.selector)["items"]
    for pod in sorted(found, key=is_ready):
        text = _log(cluster, pod["metadata"]["name"], lines)
        if text.strip():
            return text
    return ""


def _wait(
    cluster: Cluster,
    workload: Workload,
    enough: Callable[[dict[str, Json]], bool],
    timeout_s: float,
    wanted: str,
) -> list[Json]:
    deadline = time.monotonic() + timeout_s
    unplaced_since = math.inf
    watched = pods(cluster, workload.selector)
    try:
        for found in watched:
            if enough(found):
                return list(found.values())
            problem = first_problem(found.values())
            if problem is None and not found:
                problem = _of_deployment(cluster, workload)
            now = time.monotonic()
            unplaced_since = min(unplaced_since, now) if problem else math.inf
            patience_s = 0.0 if problem and problem.lasting else workload.options.schedule_timeout_s
            if problem and now - unplaced_since >= patience_s:
                raise ProviderError(_told(cluster, workload, str(problem), problem))
            if now >= deadline:
                raise NotReady(_late(cluster, workload, found, timeout_s, wanted))
    finally:
        watched.close()
    raise AssertionError("the pods are watched until something comes of it")


def _late(
    cluster: Cluster, workload: Workload, found: dict[str, Json], timeout_s: float, wanted: str
) -> str:
    what = f"no {wanted} within {timeout_s:g} s: {summary(found)}"
    return _told(cluster, workload, what, first_problem(found.values()))


def _of_deployment(cluster: Cluster, workload: Workload) -> Problem | None:
    deployment = cluster.read("Deployment", workload.name)
    if deployment is None:
        return Problem("Deleted", f"Deployment {workload.name} is gone: somebody deleted it")
    return problem_of_deployment(deployment)


def _told(cluster: Cluster, workload: Workload, what: str, problem: Problem | None) -> str:
    """What went wrong, with the events and the log that say why."""
    lines = [f"{workload.image} does not run in namespace {workload.namespace}: {what}"]
    with suppress(ClusterError):  # the account may not read events, or logs
        lines += _events(cluster, workload)
    text = ""
    with suppress(ClusterError):
        if problem and problem.crashed:
            text = _log(cluster, problem.pod, LOG_LINES, previous=True)
        text = text or last_words(cluster, workload)
    return "\n".join(
        [*lines, f"The end of its log:\n{text.strip()}" if text.strip() else "No log."]
    )


def _events(cluster: Cluster, workload: Workload) -> list[str]:
    found = cluster.list("Event", fields="type=Warning")["items"]
    own = [e for e in found if str(e["involvedObject"].get("name")).startswith(workload.name)]
    own.sort(key=lambda e: str(e.get("lastTimestamp") or e.get("eventTime") or ""))
    return [f"  {e.get('reason')}: {e.get('message')}" for e in own[-_EVENTS_TOLD:]]


def _log(cluster: Cluster, pod: str, lines: int, *, previous: bool = False) -> str:
    try:
        return cluster.logs(pod, lines, previous=previous)
    except ClusterError:  # a container that has not started has none
        return ""
