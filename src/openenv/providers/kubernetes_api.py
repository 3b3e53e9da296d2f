"""A cluster's API through the official client, with the patience that an API server asks for.

Objects are plain dicts, as in manifests: a server that is newer or older than the client stays
readable. What the server says no to is a `ClusterError`, which has its status and its own words.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from openenv.protocol.errors import ProviderError
from openenv.providers.kubernetes_manifests import Json

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

TRIES = 6
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 5.0
LONGEST_WISH_S = 30.0
"""The longest Retry-After that is waited for."""
REQUEST_S = (5.0, 30.0)
"""How long connecting may take, and how long the server may say nothing."""
_STRANGE = "CertificateVerifyFailed"
_SUFFIX = {
    "Deployment": "deployment",
    "Event": "event",
    "Pod": "pod",
    "Secret": "secret",
    "Service": "service",
}


T = TypeVar("T")


class ClusterError(ProviderError):
    """The API server refused a request, or could not be reached.

    Attributes:
        status: the HTTP status; 0 if no answer came.
        reason: the server's word for it, such as `AlreadyExists`.
        retry_after_s: how long the server asks to be left alone, in seconds.
        sent: whether the request may have reached the server.
    """

    sent = True

    def __init__(
        self, message: str, status: int = 0, reason: str = "", retry_after_s: float | None = None
    ) -> None:
        self.status = status
        self.reason = reason
        self.retry_after_s = retry_after_s
        super().__init__(message)

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed in a while."""
        if self.reason == _STRANGE:
            return False
        return self.status in (0, 429) or self.status >= 500


class Cluster:
    """One namespace of a cluster."""

    def __init__(self, client: ApiClient, namespace: str, pod: str | None = None) -> None:
        from kubernetes.client import AppsV1Api, CoreV1Api

        self.client = client
        self.namespace = namespace
        self._core = CoreV1Api(client)
        self._apps = AppsV1Api(client)
        self._pod = pod

    def create(self, manifest: Json) -> Json:
        """Creates an object.

        A request whose answer was lost is sent again: what then exists already is the object
        itself, if it bears the same marks.

        Raises:
            ClusterError: it was refused; `AlreadyExists` if there is another one of its name.
        """
        sent = False

        def create() -> Json:
            nonlocal sent
            try:
                return self._call("create", manifest["kind"], body=manifest)
            except ClusterError as error:
                there = self._same(manifest) if error.status == 409 and sent else None
                sent = error.sent = sent or error.sent
                if there is None:
                    raise
                return there

        return patiently(create)

    def replace(self, manifest: Json) -> Json:
        """Puts an object in the place of the one of its name, whoever changes that meanwhile.

        Raises:
            ClusterError: it was refused, or there is none any more.
        """
        kind, name = manifest["kind"], manifest["metadata"]["name"]

        def replace() -> Json:
            there = self._call("read", kind, name)
            body = json.loads(json.dumps(manifest))
            body["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
            if kind == "Service":  # what the cluster chose for it cannot be taken back
                kept = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
                body["spec"] |= {k: there["spec"][k] for k in kept if k in there["spec"]}
            return self._call("replace", kind, name, body=body)

        return patiently(replace, conflicts=True)

    def patch(self, kind: str, name: str, change: Json) -> Json:
        """Merges a change into an object.

        Raises:
            ClusterError: it was refused, or there is no such object.
        """
        return patiently(lambda: self._call("patch", kind, name, body=change), conflicts=True)

    def read(self, kind: str, name: str) -> Json | None:
        """An object; `None` if there is none of that name.

        Raises:
            ClusterError: it may not be read.
        """
        try:
            return patiently(lambda: self._call("read", kind, name))
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def list(
        self,
        kind: str,
        labels: dict[str, str] | None = None,
        fields: str = "",
        tries: int = TRIES,
    ) -> Json:
        """The objects of a kind in `items`, and the `resourceVersion` to watch from in `metadata`.

        Args:
            kind: theirs.
            labels: that they have.
            fields: a field selector.
            tries: how often it is asked while the refusal may pass.

        Raises:
            ClusterError: they may not be listed.
        """
        wanted: Json = {"label_selector": selector(labels or {}), "field_selector": fields}
        chosen = {name: value for name, value in wanted.items() if value}
        return patiently(lambda: self._call("list", kind, **chosen), tries=tries)

    def delete(self, kind: str, name: str) -> None:
        """Deletes an object, and what it owns; nothing if there is none.

        Raises:
            ClusterError: it was refused.
        """
        try:
            patiently(lambda: self._call("delete", kind, name, propagation_policy="Background"))
        except ClusterError as error:
            if error.status != 404:
                raise

    def logs(self, pod: str, lines: int, *, previous: bool = False) -> str:
        """The last lines of a pod; of its container before the last restart if `previous`.

        Raises:
            ClusterError: there are none.
        """
        read = self._core.read_namespaced_pod_log
        wanted = {"tail_lines": lines, "previous": previous}
        body = patiently(lambda: self._read(read, pod, self.namespace, **wanted))
        return body.decode(errors="replace")

    def watch(self, kind: str, labels: dict[str, str], version: str, window_s: int) -> Any:
        """The response whose lines are what happens to objects of a kind from a version on.

        Raises:
            ClusterError: it was refused; `passing`, or 410 when the version is too old.
        """
        return self._ask(
            getattr(self._of(kind), f"list_namespaced_{_SUFFIX[kind]}"),
            self.namespace,
            label_selector=selector(labels),
            resource_version=version,
            timeout_seconds=window_s,
            allow_watch_bookmarks=True,
            watch=True,
            _request_timeout=(REQUEST_S[0], window_s + REQUEST_S[0]),
        )

    def own_pod(self) -> Json | None:
        """The pod that this process runs in, as an owner reference; `None` outside the cluster."""
        pod = self.read("Pod", self._pod) if self._pod else None
        return reference(pod) if pod else None

    def close(self) -> None:
        """Closes the connections."""
        self.client.rest_client.pool_manager.clear()  # which older clients leave open
        closing: Any = self.client.close  # it has no types
        closing()

    def _same(self, manifest: Json) -> Json | None:
        there = self._call("read", manifest["kind"], manifest["metadata"]["name"])
        marks = manifest["metadata"].get("annotations")
        found = there["metadata"].get("annotations") or {}
        return there if marks and marks.items() <= found.items() else None

    def _of(self, kind: str) -> Any:
        return self._apps if kind == "Deployment" else self._core

    def _call(self, verb: str, kind: str, *args: str, **options: Any) -> Json:
        call = getattr(self._of(kind), f"{verb}_namespaced_{_SUFFIX[kind]}")
        body = self._read(call, *args, self.namespace, **options)
        try:
            answer: Json = json.loads(body)
        except ValueError:
            raise ClusterError(
                f"what answers at {self.client.configuration.host} is no API server of Kubernetes: "
                f"{body[:200]!r}",
                200,
            ) from None
        return answer

    def _read(self, call: Callable[..., Any], *args: str, **options: Any) -> bytes:
        """The whole body of one request's answer."""
        from urllib3.exceptions import HTTPError

        try:
            return bytes(self._ask(call, *args, **options).data)
        except HTTPError as error:  # cut off in the middle of it
            raise unreachable(error) from None

    def _ask(self, call: Callable[..., Any], *args: str, **options: Any) -> Any:
        """The raw response of one request, if it is a good one."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        options.setdefault("_request_timeout", REQUEST_S)
        try:
            response = call(*args, _preload_content=False, **options)
        except ApiException as error:
            if not error.status:  # of TLS
                raise unreachable(error.reason) from None
            raise refusal(error.status, error.body or error.reason, error.headers) from None
        except HTTPError as error:
            raise unreachable(error) from None
        except ValueError as error:  # the client's own look at what is sent
            raise ClusterError(f"this is no object of Kubernetes: {error}", 422) from None
        if 200 <= response.status < 300:
            return response
        with response:
            raise refusal(response.status, response.data, response.headers)


def unreachable(cause: object) -> ClusterError:
    """The error of a request without an answer."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    strange = "certificate verify failed" in str(cause).lower()
    error = ClusterError(
        f"the cluster's API server cannot be reached: {cause}", reason=_STRANGE if strange else ""
    )
    error.sent = not strange and not isinstance(cause, (ConnectTimeoutError, NewConnectionError))
    return error


def refusal(status: int, body: bytes | str | None, headers: Any = None) -> ClusterError:
    """The error of an answer that says no, in the server's words and with the way out."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    answer: Json = {}
    with suppress(ValueError):
        answer = json.loads(text)
    if not isinstance(answer, dict):
        answer = {}
    message = str(answer.get("message") or text.strip()[:500] or "no text")
    return ClusterError(
        f"the cluster answered {status}: {message}{_way_out(status, message)}",
        status,
        str(answer.get("reason") or ""),
        _retry_after(headers),
    )


def patiently(ask: Callable[[], T], *, conflicts: bool = False, tries: int = TRIES) -> T:
    """What a request answers, asked again a few times while its refusal is a passing one.

    Args:
        ask: the request.
        conflicts: whether a 409 passes too, because the request looks anew each time.
        tries: how often it is asked at most.

    Raises:
        ClusterError: the last refusal, or the first that will not pass.
    """
    for attempt in range(tries):
        try:
            return ask()
        except ClusterError as error:
            passing = error.passing or (conflicts and error.status == 409)
            if not passing or attempt == tries - 1:
                raise
            time.sleep(pause_s(error, attempt))
    raise AssertionError("a request is asked at least once")


def pause_s(error: ClusterError, attempt: int) -> float:
    """How long to leave the server alone after a refusal, in seconds."""
    if error.retry_after_s is not None:
        return min(error.retry_after_s, LONGEST_WISH_S)
    longest = min(FIRST_PAUSE_S * 2.0**attempt, LONGEST_PAUSE_S)
    return longest * random.uniform(0.5, 1.0)


def selector(labels: dict[str, str]) -> str:
    """A label selector as the API takes it."""
    return ",".join(f"{name}={value}" for name, value in labels.items())


def reference(thing: Json) -> Json:
    """An owner reference to an object."""
    return {
        "apiVersion": thing["apiVersion"],
        "kind": thing["kind"],
        "name": thing["metadata"]["name"],
        "uid": thing["metadata"]["uid"],
    }


def _way_out(status: int, message: str) -> str:
    if "exceeded quota" in message:
        return "; ask for less, or delete what is not needed"
    ways = {
        401: "; log in to the cluster again",
        403: "; the account lacks a right, docs/providers.md has the Role that it needs",
    }
    if status == 404 and "namespaces" in message:
        return "; create the namespace first: kubectl create namespace NAME"
    return ways.get(status, "")


def _retry_after(headers: Any) -> float | None:
    wish = headers.get("Retry-After") if headers is not None else None
    try:
        return max(0.0, float(wish)) if wish is not None else None
    except ValueError:  # a date: the server's clock is not ours
        return None
