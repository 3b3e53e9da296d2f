"""A Hub of our own: the API that `huggingface_hub` speaks, as far as Spaces need it.

It keeps what it is sent. Which requests fail, and how, is told beforehand.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TOKEN = "hf_of_a_test"
ACCOUNT = "ada"
LFS_FROM_BYTES = 1 << 20

Json = dict[str, Any]


@dataclass
class Space:
    """A Space as the Hub keeps it."""

    repo_id: str
    private: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    hardware: str | None = None
    commits: list[list[Json]] = field(default_factory=list)
    pull_requests: list[dict[str, bytes]] = field(default_factory=list)


@dataclass
class Fault:
    """What happens instead of an answer, to requests whose `METHOD path` matches.

    Attributes:
        status: the answer's status; 0 cuts the connection after a part of the body was read.
        times: to how many requests.
        after_s: how late.
        performed: whether the request has its effect all the same.
    """

    route: str
    status: int
    times: int = 1
    message: str = ""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    performed: bool = False


@dataclass
class Request:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: bytes
    token: str | None

    def json(self) -> Json:
        parsed: Json = json.loads(self.body)
        return parsed


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, message: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {"X-Error-Message": message} if message else {}
        if code:
            self.headers["X-Error-Code"] = code


class FakeHub:
    """The Hub's state, and its routes."""

    def __init__(self) -> None:
        self.url = ""
        self.spaces: dict[str, Space] = {}
        self.writable = {ACCOUNT}
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self.objects: dict[str, bytes] = {}
        self.arrived: list[str] = []
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def add(self, repo_id: str, **fields: Any) -> Space:
        """A Space that is there already."""
        self.spaces[repo_id] = Space(repo_id, **fields)
        return self.spaces[repo_id]

    def fail(self, route: str, status: int, **fields: Any) -> None:
        """From now on requests that match are answered like that."""
        self.faults.append(Fault(route, status, **fields))

    def asked(self, route: str) -> list[Request]:
        """The requests whose `METHOD path` matches."""
        return [r for r in self.requests if re.search(route, f"{r.method} {r.path}")]

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The fault that a request meets, once less."""
        with self._lock:
            self.arrived.append(f"{method} {path}")
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.route, f"{method} {path}"):
                    fault.times -= 1
                    return fault
        return None

    def answer(self, request: Request) -> Json | list[Json]:
        """What a request is answered.

        Raises:
            Refusal: it is refused.
        """
        with self._lock:
            self.requests.append(request)
            for method, pattern, perform in self._routes():
                found = re.fullmatch(pattern, request.path)
                if request.method == method and found:
                    return perform(request, *found.groups())
        raise Refusal(404, f"no such route: {request.method} {request.path}")

    def _routes(self) -> list[tuple[str, str, Callable[..., Json | list[Json]]]]:
        space = r"/api/spaces/([^/]+/[^/]+)"
        return [
            ("GET", "/api/whoami-v2", self._whoami),
            ("POST", "/api/repos/create", self._create),
            ("POST", "/api/validate-yaml", self._validate_yaml),
            ("GET", space, self._info),
            ("GET", space + r"/revision/[^/]+", self._info),
            ("GET", space + r"/tree/[^/]+", self._tree),
            ("POST", space + r"/preupload/[^/]+", self._preupload),
            ("POST", space + r"/commit/[^/]+", self._commit),
            ("GET", space + "/variables", self._variables),
            ("POST", space + "/variables", self._set_variable),
            ("POST", space + "/secrets", self._set_secret),
            ("POST", space + "/hardware", self._set_hardware),
            ("POST", space + "/duplicate", self._duplicate),
            ("POST", r"/spaces/([^/]+/[^/]+)\.git/info/lfs/objects/batch", self._lfs_batch),
            ("PUT", r"/lfs/([0-9a-f]{64})", self._lfs_put),
            ("POST", "/lfs/verify", self._lfs_verify),
        ]

    # ── accounts and repositories ─────────────────────────────────────────────────────────────────

    def _whoami(self, request: Request) -> Json:
        if request.token != TOKEN:
            raise Refusal(401, "Invalid credentials in Authorization header")
        return {"type": "user", "name": ACCOUNT, "orgs": []}

    def _space(self, request: Request, repo_id: str, *, to_write: bool = False) -> Space:
        space = self.spaces.get(repo_id)
        if space is None:
            raise Refusal(404, "Repository not found", "RepoNotFound")
        if to_write:
            self._may_write(request, repo_id)
        return space

    def _may_write(self, request: Request, repo_id: str) -> None:
        self._whoami(request)
        if repo_id.partition("/")[0] not in self.writable:
            raise Refusal(403, "You don't have the rights to do that")

    def _create(self, request: Request) -> Json:
        body = request.json()
        repo_id = f"{body['organization'] or ACCOUNT}/{body['name']}"
        self._may_write(request, repo_id)
        assert (body["type"], body["sdk"]) == ("space", "docker")
        return self._new(repo_id, body, {})

    def _duplicate(self, request: Request, source: str) -> Json:
        body = request.json()
        self._may_write(request, body["repository"])
        return self._new(body["repository"], body, self._space(request, source).files)

    def _new(self, repo_id: str, body: Json, files: dict[str, bytes]) -> Json:
        if repo_id in self.spaces:
            raise Refusal(409, "You already created this space repo")
        private = body.get("private", False) or body.get("visibility") == "private"
        space = self.add(repo_id, private=private, hardware=body.get("hardware"))
        space.files = {".gitattributes": b"* text=auto\n", **files}
        space.variables = {v["key"]: v["value"] for v in body.get("variables") or ()}
        space.secrets = {v["key"]: v["value"] for v in body.get("secrets") or ()}
        return {"url": f"{self.url}/spaces/{repo_id}"}

    def _info(self, request: Request, repo_id: str) -> Json:
        space = self._space(request, repo_id)
        return {
            "id": repo_id,
            "private": space.private,
            "sha": "0" * 40,
            "sdk": "docker",
            "tags": [],
            "siblings": [{"rfilename": path} for path in space.files],
        }

    def _tree(self, request: Request, repo_id: str) -> list[Json]:
        space = self._space(request, repo_id)
        return [
            _listed(path, content, path in space.large) for path, content in space.files.items()
        ]

    # ── settings ──────────────────────────────────────────────────────────────────────────────────

    def _variables(self, request: Request, repo_id: str) -> Json:
        space = self._space(request, repo_id, to_write=True)
        return {key: {"value": value} for key, value in space.variables.items()}

    def _set_variable(self, request: Request, repo_id: str) -> Json:
        body = request.json()
        self._space(request, repo_id, to_write=True).variables[body["key"]] = body["value"]
        return self._variables(request, repo_id)

    def _set_secret(self, request: Request, repo_id: str) -> Json:
        body = request.json()
        self._space(request, repo_id, to_write=True).secrets[body["key"]] = body["value"]
        return {}

    def _set_hardware(self, request: Request, repo_id: str) -> Json:
        flavor = request.json()["flavor"]
        self._space(request, repo_id, to_write=True).hardware = flavor
        return {"stage": "BUILDING", "hardware": {"current": None, "requested": flavor}}

    # ── files ─────────────────────────────────────────────────────────────────────────────────────

    def _validate_yaml(self, request: Request) -> Json:
        assert request.json()["repoType"] == "space"
        assert "sdk: docker" in request.json()["content"]
        return {"errors": [], "warnings": []}

    def _preupload(self, request: Request, repo_id: str) -> Json:
        space = self._space(request, repo_id, to_write="create_pr" not in request.query)
        return {
            "files": [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["size"] >= LFS_FROM_BYTES else "regular",
                    "shouldIgnore": False,
                    "oid": git_id(space.files[file["path"]])
                    if file["path"] in space.files
                    else None,
                }
                for file in request.json()["files"]
            ]
        }

    def _commit(self, request: Request, repo_id: str) -> Json:
        is_pr = "create_pr" in request.query
        space = self._space(request, repo_id, to_write=not is_pr)
        operations = [json.loads(line) for line in request.body.splitlines()]
        files = dict(space.files)
        for operation in operations:
            self._apply(operation["key"], operation["value"], files, space)
        oid = f"{len(space.commits) + 1:040x}"
        if is_pr:
            space.pull_requests.append(files)
        else:
            space.files = files
            space.commits.append(operations)
        page = f"{self.url}/spaces/{repo_id}"
        return {
            "success": True,
            "commitOid": oid,
            "commitUrl": f"{page}/commit/{oid}",
            **(
                {"pullRequestUrl": f"{page}/discussions/{len(space.pull_requests)}"}
                if is_pr
                else {}
            ),
        }

    def _apply(self, key: str, value: Json, files: dict[str, bytes], space: Space) -> None:
        if key == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif key == "lfsFile":
            files[value["path"]] = self.objects[value["oid"]]
            space.large.add(value["path"])
        elif key == "deletedFile":
            del files[value["path"]]
        else:
            assert key == "header", key

    def _lfs_batch(self, request: Request, repo_id: str) -> Json:
        self._space(request, repo_id, to_write=True)
        return {
            "transfer": "basic",
            "objects": [self._lfs_object(o) for o in request.json()["objects"]],
        }

    def _lfs_object(self, wanted: Json) -> Json:
        if wanted["oid"] in self.objects:
            return dict(wanted)
        upload = {"href": f"{self.url}/lfs/{wanted['oid']}"}
        return {
            **wanted,
            "actions": {"upload": upload, "verify": {"href": f"{self.url}/lfs/verify"}},
        }

    def _lfs_put(self, request: Request, oid: str) -> Json:
        if hashlib.sha256(request.body).hexdigest() != oid:
            raise Refusal(400, "the content is not what was announced")
        self.objects[oid] = request.body
        return {}

    def _lfs_verify(self, request: Request) -> Json:
        if request.json()["oid"] not in self.objects:
            raise Refusal(404, "no such object")
        return {}


def git_id(content: bytes) -> str:
    """A content's id in Git."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _listed(path: str, content: bytes, is_large: bool) -> Json:
    entry = {"type": "file", "path": path, "size": len(content), "oid": git_id(content)}
    if is_large:
        sha256 = hashlib.sha256(content).hexdigest()
        entry["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 130}
    return entry
