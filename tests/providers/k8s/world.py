"""What is in a cluster of the tests: objects, their versions and history, and what pods become.

An image's name says what becomes of its pods: `good`, `missing`, `never`, `crash`, `oom`, `big`,
`quota`, `slow`.
"""

import copy
import itertools
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from kubernetes_validate import ValidationError, validate  # type: ignore[import-untyped]

Json = dict[str, Any]
Key = tuple[str, str, str]

SCHEMAS = "1.33"
NODE = "127.0.0.1"


class Refusal(Exception):
    """An answer that says no."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status = status
        self.body = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": reason,
            "message": message,
            "code": status,
        }
        super().__init__(message)


class World:
    """The objects of a cluster, as its API server keeps them.

    Attributes:
        objects: by kind, namespace and name.
        history: every change with its version; versions before the first are forgotten.
        forgotten: the oldest version that cannot be watched from.
        logs: by fate.
        held: whether pods stay as they are for the moment.
        fates: what becomes of an image instead of what its name says.
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Json] = {}
        self.history: list[tuple[int, str, Json]] = []
        self.forgotten = 0
        self.logs = {"crash": "ModuleNotFoundError: no module named 'echo'\n", "good": "serving\n"}
        self.held: Callable[[], bool] = lambda: False
        self.fates: dict[str, str] = {}
        self.changed: Callable[[], None] = lambda: None
        self.later: Callable[[Callable[[], object]], object] = lambda act: act()
        self._versions = itertools.count(1)
        self._version = 0

    def create(self, manifest: Json) -> Json:
        """Keeps a new object, if it is a valid one and there is none of its name."""
        key = _key(manifest)
        if key in self.objects:
            raise Refusal(409, "AlreadyExists", f"{key[0]} {key[2]!r} already exists")
        _check(manifest)
        made = copy.deepcopy(manifest)
        made["metadata"] |= {"uid": uuid.uuid4().hex, "generation": 1}
        if key[0] == "Service":
            made["spec"] |= {"clusterIP": "10.0.0.7"}
            made["spec"]["ports"][0].setdefault("nodePort", 31234)
        self._put("ADDED", made)
        if key[0] == "Deployment":
            self.later(lambda: self._reconcile(key))
        return made

    def replace(self, manifest: Json) -> Json:
        """Puts an object in the place of an older one, if its sender has seen that."""
        there = self.get(_key(manifest))
        if manifest["metadata"].get("resourceVersion") != there["metadata"]["resourceVersion"]:
            raise Refusal(409, "Conflict", "the object has been modified; apply your changes anew")
        _check(manifest)
        return self._change(there, copy.deepcopy(manifest))

    def patch(self, key: Key, change: Json) -> Json:
        """Merges a change into an object."""
        there = self.get(key)
        return self._change(there, _merged(there, change))

    def delete(self, key: Key) -> Json:
        """Deletes an object, and all that it owns."""
        there = self.objects.pop(key, None)
        if there is None:
            raise Refusal(404, "NotFound", f'{key[0].lower()}s "{key[2]}" not found')
        self._note("DELETED", there)
        for owned in [k for k, o in self.objects.items() if _owner(o) == there["metadata"]["uid"]]:
            self.delete(owned)
        return there

    def get(self, key: Key) -> Json:
        if key not in self.objects:
            raise Refusal(404, "NotFound", f'{key[0].lower()}s "{key[2]}" not found')
        return self.objects[key]

    def listed(self, kind: str, namespace: str, labels: dict[str, str]) -> Json:
        """The objects of a kind with these labels, and the version that they are of."""
        items = [o for (k, n, _), o in self.objects.items() if (k, n) == (kind, namespace)]
        found = [item for item in items if has_labels(item, labels)]
        return {"metadata": {"resourceVersion": str(self._version)}, "items": found}

    def since(self, version: int, kind: str, labels: dict[str, str]) -> Iterator[Json]:
        """The events of a watch, from a version on."""
        if version < self.forgotten:
            raise Refusal(410, "Expired", f"too old resource version: {version}")
        for changed, event, thing in self.history:
            if changed > version and thing["kind"] == kind and has_labels(thing, labels):
                yield {"type": event, "object": thing}

    def forget(self) -> None:
        """Forgets all versions: who watches from one must list anew."""
        self.touch()
        self.forgotten = self._version

    def touch(self) -> None:
        """Something changes that has nothing to do with us."""
        self._version = next(self._versions)

    def lose(self, pod: str) -> None:
        """A pod's node is lost: the pod is not ready any more, and another one starts."""
        key = next(k for k in self.objects if k[0] == "Pod" and k[2] == pod)
        self.delete(key)
        deployment = next(k for k in self.objects if k[0] == "Deployment")
        self.later(lambda: self._reconcile(deployment))

    def left(self) -> list[str]:
        """What there is, as `Kind name`."""
        return [f"{kind} {name}" for kind, _, name in self.objects]

    def _change(self, there: Json, made: Json) -> Json:
        metadata = there["metadata"]
        respecified = made.get("spec") != there.get("spec")
        generation = metadata["generation"] + respecified
        made["metadata"] |= {"uid": metadata["uid"], "generation": generation}
        made.setdefault("status", there.get("status", {}))
        self._put("MODIFIED", made)
        if made["kind"] == "Deployment":
            self.later(lambda: self._reconcile(_key(made)))
        return made

    def _put(self, event: str, thing: Json) -> None:
        self._version = next(self._versions)
        thing["metadata"]["resourceVersion"] = str(self._version)
        self.objects[_key(thing)] = thing
        self.history.append((self._version, event, copy.deepcopy(thing)))
        self.changed()

    def _note(self, event: str, thing: Json) -> None:
        self._version = next(self._versions)
        gone = copy.deepcopy(thing)
        gone["metadata"]["resourceVersion"] = str(self._version)
        self.history.append((self._version, event, gone))
        self.changed()

    def _reconcile(self, key: Key) -> None:
        """What a Deployment's controller does: as many pods of its form as it says."""
        deployment = self.objects.get(key)
        if deployment is None:
            return
        spec = deployment["spec"]
        generation = deployment["metadata"]["generation"]
        status: Json = {"observedGeneration": generation, "updatedReplicas": spec["replicas"]}
        if self._fate(spec["template"]) == "quota":
            status["conditions"] = [QUOTA]
        self._put("MODIFIED", deployment | {"status": status})
        if "conditions" in status:
            return
        labels = spec["selector"]["matchLabels"]
        pods = self.listed("Pod", key[1], labels)["items"]
        stale = [pod for pod in pods if not _is_of(pod, spec["template"])]
        for pod in [p for p in pods if p not in stale][spec["replicas"] :]:
            self.delete(_key(pod))
        for pod in stale:  # while the new ones start
            self.later(lambda pod=pod: self.later(lambda: self._drop(_key(pod))))  # type: ignore[misc]
        for _ in range(spec["replicas"] - (len(pods) - len(stale))):
            self._start_pod(deployment)

    def _drop(self, key: Key) -> None:
        if key in self.objects:
            self.delete(key)

    def _start_pod(self, deployment: Json) -> None:
        template = copy.deepcopy(deployment["spec"]["template"])
        owner = {"uid": deployment["metadata"]["uid"], "kind": "Deployment"}
        name = f"{deployment['metadata']['name']}-{uuid.uuid4().hex[:5]}"
        namespace = deployment["metadata"]["namespace"]
        metadata = template["metadata"] | {
            "name": name,
            "namespace": namespace,
            "ownerReferences": [owner],
            "uid": uuid.uuid4().hex,
            "generation": 1,
        }
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": template["spec"]}
        self._put("ADDED", pod | {"status": {"phase": "Pending"}})
        self._live(("Pod", namespace, name), iter(FATES[self._fate(template)]))

    def _fate(self, template: Json) -> str:
        fate = fate_of(_image(template))
        return self.fates.get(fate, fate)

    def _live(self, key: Key, statuses: Iterator[Json]) -> None:
        """One status after the other, for as long as the pod is there."""

        def next_status() -> None:
            if self.held():
                self.later(next_status)
                return
            status = next(statuses, None)
            if status is not None and key in self.objects:
                self._put("MODIFIED", self.objects[key] | {"status": status})
                self.later(next_status)

        self.later(next_status)


def has_labels(thing: Json, labels: dict[str, str]) -> bool:
    found: dict[str, str] = thing["metadata"].get("labels", {})
    return labels.items() <= found.items()


def fate_of(image: str) -> str:
    return next(fate for fate in FATES if fate in image)


def _image(template: Json) -> str:
    image: str = template["spec"]["containers"][0]["image"]
    return image


def _key(thing: Json) -> Key:
    return thing["kind"], thing["metadata"]["namespace"], thing["metadata"]["name"]


def _is_of(pod: Json, template: Json) -> bool:
    """Whether a pod is what a template says, its marks included."""
    marks = [thing["metadata"].get("annotations") for thing in (pod, template)]
    return marks[0] == marks[1] and bool(pod["spec"] == template["spec"])


def _owner(thing: Json) -> str | None:
    owners = thing["metadata"].get("ownerReferences") or [{}]
    uid: str | None = owners[0].get("uid")
    return uid


def _merged(there: Any, change: Any) -> Any:
    if not isinstance(there, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    return {**there, **{name: _merged(there.get(name), value) for name, value in change.items()}}


def _check(manifest: Json) -> None:
    try:
        validate(manifest, SCHEMAS, strict=True)
    except ValidationError as error:
        raise Refusal(422, "Invalid", f"{manifest['kind']} is invalid: {error.message}") from None


def _running(ready: bool, restarts: int = 0) -> Json:
    return {
        "phase": "Running",
        "hostIP": NODE,
        "conditions": [
            {"type": "PodScheduled", "status": "True"},
            {"type": "Ready", "status": str(ready)},
        ],
        "containerStatuses": [{"restartCount": restarts, "state": {"running": {}}}],
    }


def _waiting(reason: str, message: str, ended: Json | None = None) -> Json:
    container: Json = {"state": {"waiting": {"reason": reason, "message": message}}}
    if ended:
        container["lastState"] = {"terminated": ended}
    return {"phase": "Pending", "hostIP": NODE, "containerStatuses": [container]}


def _unscheduled(message: str) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"phase": "Pending", "conditions": [condition | {"message": message}]}


QUOTA = {
    "type": "ReplicaFailure",
    "status": "True",
    "reason": "FailedCreate",
    "message": 'pods "x" is forbidden: exceeded quota: small, requested: limits.memory=2Gi',
}
FATES: dict[str, list[Json]] = {
    "good": [_running(False), _running(True)],
    "missing": [
        _waiting("ContainerCreating", ""),
        _waiting("ErrImagePull", 'manifest for "missing:1" not found'),
        _waiting("ImagePullBackOff", 'Back-off pulling image "missing:1"'),
    ],
    "never": [_waiting("ErrImageNeverPull", 'Container image "never" is not present')],
    "crash": [
        _running(False),
        _waiting(
            "CrashLoopBackOff",
            "back-off 10s restarting failed container",
            {"exitCode": 1, "reason": "Error"},
        ),
    ],
    "oom": [
        _running(False),
        _running(False, restarts=1)
        | {
            "containerStatuses": [
                {"lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
            ]
        },
    ],
    "survivor": [
        _running(False),
        _running(True, restarts=1)
        | {
            "containerStatuses": [
                {"lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
            ]
        },
    ],
    "big": [_unscheduled("0/2 nodes are available: 2 Insufficient memory.")],
    "quota": [],
    "slow": [_running(False)],
}
