"""Waiting until a workload's pods serve, and no longer than there is hope."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.kubernetes_api import Cluster, ClusterError
from openenv.providers.kubernetes_manifests import Json, Workload
from openenv.providers.kubernetes_verdicts import (
    Problem,
    first_problem,
    is_leaving,
    is_of_launch,
    is_ready,
    is_rolled_out,
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

    def enough(found: Mapping[str, Json]) -> bool:
        staying = [pod for pod in found.values() if not is_leaving(pod)]
        if len(staying) != replicas or not all(map(is_ready, staying)):
            return False
        deployment = cluster.read("Deployment", workload.name)
        return deployment is not None and is_rolled_out(deployment, replicas)

    return _Wait(cluster, workload, replicas, timeout_s).until(enough, f"{replicas} ready pod(s)")


def wait_until_placed(cluster: Cluster, workload: Workload, timeout_s: float) -> list[Json]:
    """Returns the pods as soon as one of them has a node.

    Raises:
        NotReady: none had in time.
        ProviderError: none ever will.
    """

    def placed(found: Mapping[str, Json]) -> bool:
        return any("hostIP" in pod.get("status", {}) for pod in found.values())

    return _Wait(cluster, workload, 1, timeout_s).until(placed, "a node for its pod")


def current_problem(cluster: Cluster, workload: Workload) -> Problem | None:
    """What keeps a workload from serving, as far as waiting would not help."""
    found = cluster.list("Pod", workload.selector)["items"]
    problem = first_problem(found) or _of_deployment(cluster, workload)
    return problem if problem and problem.lasting else None


def last_words(cluster: Cluster, workload: Workload, lines: int = LOG_LINES) -> str:
    """The end of the log of a pod that has one: of one in trouble before one that is well."""
    found = cluster.list("Pod", workload.selector)["items"]
    for pod in sorted(found, key=is_ready):
        text = _log(cluster, pod["metadata"]["name"], lines)
        if text.strip():
            return text
    return ""


class _Wait:
    """Watches a workload's pods until something comes of it, good or bad."""

    def __init__(
        self, cluster: Cluster, workload: Workload, replicas: int, timeout_s: float
    ) -> None:
        self._cluster = cluster
        self._workload = workload
        self._replicas = replicas
        self._timeout_s = timeout_s
        self._troubled_since = math.inf

    def until(self, enough: Callable[[Mapping[str, Json]], bool], wanted: str) -> list[Json]:
        """The pods, once they are enough; `wanted` says what that is."""
        deadline = time.monotonic() + self._timeout_s
        watched = pods(self._cluster, self._workload.selector)
        try:
            for found in watched:
                if enough(found):
                    return [pod for pod in found.values() if not is_leaving(pod)]
                problem = self._problem(found)
                if problem and self._is_hopeless(problem):
                    raise ProviderError(self._told(str(problem), problem, found))
                if time.monotonic() >= deadline:
                    what = f"waited {self._timeout_s:g} s for {wanted}: {summary(found)}"
                    raise NotReady(self._told(what, problem, found))
        finally:
            watched.close()
        raise AssertionError("the pods are watched until something comes of it")

    def _problem(self, found: Mapping[str, Json]) -> Problem | None:
        """That of its pods; what an earlier form of them had is no matter."""
        own = [pod for pod in found.values() if is_of_launch(pod, self._workload.launch)]
        problem = first_problem(own)
        if problem is None and len(own) < self._replicas:
            problem = _of_deployment(self._cluster, self._workload)
        if problem is None:
            self._troubled_since = math.inf
        return problem

    def _is_hopeless(self, problem: Problem) -> bool:
        """Whether it lasts, or has lasted for too long."""
        now = time.monotonic()
        self._troubled_since = min(self._troubled_since, now)
        patience_s = self._workload.options.schedule_timeout_s
        return problem.lasting or now - self._troubled_since >= patience_s

    def _told(self, what: str, problem: Problem | None, found: Mapping[str, Json]) -> str:
        """What went wrong, with the events and the log that say why."""
        workload = self._workload
        lines = [f"{workload.image} does not run in namespace {workload.namespace}: {what}"]
        waiting = [name for name, pod in found.items() if not is_ready(pod)]
        pod = problem.pod if problem else next(iter(waiting), "")
        text = ""
        with suppress(ClusterError):  # the account may not read events, or logs
            events = _events(self._cluster, pod) if pod else []
            lines += [f"  {event}" for event in events if event not in what]
        with suppress(ClusterError):
            if problem and problem.crashed:
                text = _log(self._cluster, pod, LOG_LINES, previous=True)
            text = (text or last_words(self._cluster, workload)).strip()
        return "\n".join([*lines, f"The end of its log:\n{text}" if text else "It wrote no log."])


def _of_deployment(cluster: Cluster, workload: Workload) -> Problem | None:
    deployment = cluster.read("Deployment", workload.name)
    if deployment is None:
        return Problem("Deleted", f"Deployment {workload.name} is gone: somebody deleted it")
    return problem_of_deployment(deployment)


def _events(cluster: Cluster, pod: str) -> list[str]:
    """The last warnings about a pod."""
    warnings = f"type=Warning,involvedObject.name={pod}"
    found = cluster.list("Event", fields=warnings)["items"]
    found.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    texts = dict.fromkeys(f"{event.get('reason')}: {event.get('message')}" for event in found)
    return list(texts)[-_EVENTS_TOLD:]


def _log(cluster: Cluster, pod: str, lines: int, *, previous: bool = False) -> str:
    try:
        return cluster.logs(pod, lines, previous=previous)
    except ClusterError:  # a container that has not started has none
        return ""
