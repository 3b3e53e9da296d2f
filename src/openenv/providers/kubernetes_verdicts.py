"""What a pod's status means for someone who waits for it: no I/O here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openenv.providers.kubernetes_manifests import LAUNCH, Json

UNSCHEDULABLE = "Unschedulable"
OUT_OF_MEMORY = "OOMKilled"
QUOTA = "ask for less, or delete what is not needed"
_WAYS_OUT = {
    "ErrImagePull": "push the image, or load it into every node and set image_pull_policy=Never",
    "ErrImageNeverPull": "load the image into every node, or let nodes pull it: image_pull_policy",
    "InvalidImageName": "spell the image as registry/name:tag",
    "CreateContainerConfigError": "an image that runs as root or as a user without a number needs "
    "run_as_user=1000 or the like",
    OUT_OF_MEMORY: "give it more memory",
    UNSCHEDULABLE: "ask for less, add a node, or raise schedule_timeout_s where nodes are added "
    "by themselves",
}
_WAYS_OUT["ImagePullBackOff"] = _WAYS_OUT["ErrImagePull"]
_NEVER_STARTS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "ErrImageNeverPull",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "CrashLoopBackOff",
    }
)


@dataclass(frozen=True)
class Problem:
    """Why a pod is not ready.

    Attributes:
        reason: the cluster's own word, such as `ImagePullBackOff`.
        message: its own text.
        pod: which one; empty where there is none yet.
        lasting: waiting will not help.
        crashed: its container ran, so that it has a log to look into.
    """

    reason: str
    message: str = ""
    pod: str = ""
    lasting: bool = True
    crashed: bool = False

    def __str__(self) -> str:
        where = f"pod {self.pod}: " if self.pod else ""
        text = f": {self.message}" if self.message else ""
        way_out = QUOTA if "exceeded quota" in self.message else _WAYS_OUT.get(self.reason, "")
        return f"{where}{self.reason}{text}{'; ' if way_out else ''}{way_out}"


def is_ready(pod: Json) -> bool:
    """Whether a pod serves, and goes on doing so."""
    return not is_leaving(pod) and _condition(pod, "Ready").get("status") == "True"


def is_leaving(pod: Json) -> bool:
    """Whether a pod is being deleted, or has ended."""
    ended = pod.get("status", {}).get("phase") in ("Failed", "Succeeded")
    return ended or "deletionTimestamp" in pod["metadata"]


def is_of_launch(pod: Json, launch: str) -> bool:
    """Whether a pod is of the form that a launch gave it; of any if that is not known."""
    return not launch or (pod["metadata"].get("annotations") or {}).get(LAUNCH) == launch


def is_rolled_out(deployment: Json, replicas: int) -> bool:
    """Whether a Deployment's pods are all of its current form, so many."""
    status: dict[str, int] = deployment.get("status", {})
    return _is_seen(deployment) and status.get("updatedReplicas", 0) == replicas


def problem_of(pod: Json) -> Problem | None:
    """What keeps a pod from being ready; `None` if it only takes its time."""
    name, status = pod["metadata"]["name"], pod.get("status", {})
    if is_leaving(pod) or is_ready(pod):  # what it has got over is no problem
        return None
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("reason") == UNSCHEDULABLE:
        return Problem(UNSCHEDULABLE, scheduled.get("message", ""), name, lasting=False)
    for container in status.get("containerStatuses") or ():
        if found := _container_problem(container, name):
            return found
    return None


def problem_of_deployment(deployment: Json) -> Problem | None:
    """Why a Deployment gets no pods: a quota, an admission policy, a missing account."""
    failure = _condition(deployment, "ReplicaFailure")
    if failure.get("status") == "True" and _is_seen(deployment):
        return Problem(failure.get("reason", "FailedCreate"), failure.get("message", ""))
    return None


def first_problem(pods: Iterable[Json]) -> Problem | None:
    """The problem to tell of several pods: a lasting one before one that may pass."""
    found = [problem for pod in pods if (problem := problem_of(pod))]
    return min(found, key=lambda problem: not problem.lasting, default=None)


def summary(pods: Mapping[str, Json]) -> str:
    """Where each pod stands, in one line."""
    if not pods:
        return "there is no pod"
    return ", ".join(f"{name} {_standing(pod)}" for name, pod in sorted(pods.items()))


def _is_seen(deployment: Json) -> bool:
    """Whether its status is of its current form."""
    seen: int = deployment.get("status", {}).get("observedGeneration", 0)
    return seen >= int(deployment["metadata"]["generation"])


def _container_problem(container: Json, pod: str) -> Problem | None:
    ended = (
        container.get("lastState", {}).get("terminated")
        or container.get("state", {}).get("terminated")
        or {}
    )
    if ended.get("reason") == OUT_OF_MEMORY:
        return Problem(OUT_OF_MEMORY, _end(ended), pod, crashed=True)
    waiting = container.get("state", {}).get("waiting") or {}
    if waiting.get("reason") not in _NEVER_STARTS:
        return None
    message = _end(ended) if ended else waiting.get("message", "")
    return Problem(waiting["reason"], message, pod, crashed=bool(ended))


def _end(ended: Json) -> str:
    return f"its server ended with exit code {ended.get('exitCode')} ({ended.get('reason')})"


def _standing(pod: Json) -> str:
    if is_ready(pod):
        return "is ready"
    if is_leaving(pod):
        return "is leaving"
    problem = problem_of(pod)
    phase = pod.get("status", {}).get("phase", "Pending")
    return f"is {problem.reason}" if problem else f"is {phase}, not ready"


def _condition(thing: Json, kind: str) -> Json:
    conditions: list[Json] = thing.get("status", {}).get("conditions") or []
    return next((condition for condition in conditions if condition["type"] == kind), {})
