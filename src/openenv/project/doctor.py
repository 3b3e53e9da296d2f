"""What this machine can do: a finding for each thing that OpenEnv uses, and how to get the rest."""

from __future__ import annotations

import platform
import queue
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from openenv.protocol.errors import OpenEnvError, ProviderError

State = Literal["ok", "partial", "missing"]
PATIENCE_S = 20.0
"""How long a look at one thing may take: an engine that hangs does not hang the doctor."""
TOOL_S = 5.0
_PACKAGES = ("fastapi", "pydantic", "uvicorn", "websockets", "msgspec", "typer")


@dataclass(frozen=True)
class Finding:
    """What was found of one thing.

    Attributes:
        state: all of it is there, some of it, or nothing.
        found: what is there, or why it is not.
        advice: how to get the rest.
        details: more of it, by name.
    """

    state: State
    found: str
    advice: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def examine(
    names: Iterable[str] | None = None, patience_s: float = PATIENCE_S
) -> dict[str, Finding]:
    """Looks at everything at the same time.

    Args:
        names: of `CHECKS`; all by default.
        patience_s: what has not answered by then, in seconds, is missing.
    """
    wanted = list(CHECKS if names is None else names)
    answers: queue.Queue[tuple[str, Finding]] = queue.Queue()
    for name in wanted:
        look = threading.Thread(
            target=lambda name=name: answers.put((name, _looked(CHECKS[name]))),
            name=f"openenv-doctor-{name}",
            daemon=True,  # one that hangs does not keep Python from ending
        )
        look.start()
    found: dict[str, Finding] = {}
    deadline = time.monotonic() + patience_s
    while len(found) < len(wanted):
        try:
            name, finding = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        found[name] = finding
    silent = Finding("missing", f"it did not answer within {patience_s:g} s", "is it hanging?")
    return {name: found.get(name, silent) for name in wanted}


def _looked(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # noqa: BLE001  # one fault hides no other finding
        return Finding("missing", f"{type(error).__name__}: {error}")


# ── this Python ───────────────────────────────────────────────────────────────────────────────────


def _python() -> Finding:
    return Finding(
        "ok",
        f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} "
        f"{platform.release()} ({platform.machine()})",
        details={"executable": sys.executable},
    )


def _packages() -> Finding:
    from openenv import __version__

    details = {name: _version(name) or "not installed" for name in _PACKAGES}
    details["wire"] = "v1 and v2: servers and clients of openenv 0.2 to 0.10 are spoken to in v1"
    found = f"openenv-core {__version__}"
    if other := _version("openenv"):
        return Finding(
            "partial",
            f"{found}, and a package openenv {other} that has the same modules",
            "pip uninstall openenv, then pip install --force-reinstall openenv-core",
            details,
        )
    return Finding("ok", found, details=details)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _sandbox() -> Finding:
    if sys.platform == "win32":  # which lacks the modules to look with
        return Finding(
            "missing", "only Linux confines sessions", "run the server on Linux, or in WSL"
        )
    from openenv.runtime.confine import FEATURES, probe

    features = probe()
    details = {
        name: f"yes: {meaning}" if name in features else f"no: {features.missing.get(name, '')}"
        for name, meaning in FEATURES.items()
    }
    there = f"{len(features.available)} of {len(FEATURES)} features of the kernel"
    if features.level == "full":
        return Finding("ok", there, details=details)
    state: State = "partial" if features.level == "partial" else "missing"
    lacking = ", ".join(features.missing)
    advice = "; ".join(dict.fromkeys(features.missing.values()))
    return Finding(state, f"{there}; not there: {lacking}", advice, details)


# ── tools ─────────────────────────────────────────────────────────────────────────────────────────


def _uv() -> Finding:
    from openenv.providers.command import run
    from openenv.providers.uv import find_uv

    try:
        return Finding("ok", run([find_uv(), "--version"], timeout_s=TOOL_S).stdout.strip())
    except ProviderError as error:
        return Finding("missing", str(error), "pip install uv")


def _git() -> Finding:
    from openenv.providers.command import run

    if shutil.which("git") is None:
        return Finding(
            "missing", "not found on PATH; Spaces are installed and run with it", "install git"
        )
    return Finding("ok", run(["git", "--version"], timeout_s=TOOL_S).stdout.strip())


def _engine(name: Literal["docker", "podman"]) -> Finding:
    from openenv.providers.engine import Engine

    try:
        return Finding("ok", f"{name} {Engine(name).ping()}")
    except ProviderError as error:
        return _missing(error)


def _missing(error: ProviderError) -> Finding:
    """What a provider's error says: what is wrong; and the way out, which comes last."""
    what, _, advice = str(error).partition("; ")
    return Finding("missing", what, advice or None)


def _docker() -> Finding:
    return _engine("docker")


def _podman() -> Finding:
    return _engine("podman")


def _kubernetes() -> Finding:
    from openenv.providers.kubernetes_connect import connect

    try:
        cluster = connect()
    except ProviderError as error:
        return _missing(error)
    try:
        from kubernetes.client import VersionApi

        answer: Any = VersionApi(cluster.client).get_code(_request_timeout=TOOL_S)
    except Exception as error:  # noqa: BLE001  # of its client, and of all that is below it
        said = str(error).strip().splitlines()
        return Finding(
            "missing",
            f"the cluster of this kubeconfig does not answer: {said[0] if said else error!r}",
            "kubectl cluster-info says more",
        )
    finally:
        cluster.close()
    return Finding("ok", f"{answer.git_version}, namespace {cluster.namespace}")


def _hub() -> Finding:
    from openenv.project.hub import Hub

    try:
        hub = Hub()
    except OpenEnvError as error:
        return Finding("missing", str(error), "pip install 'openenv-core[hub]'")
    if not hub.has_token:
        return Finding("missing", f"not logged in to {hub.endpoint}", "hf auth login, or HF_TOKEN")
    return Finding("ok", f"a token for {hub.endpoint} is there; push tells whether it is good")


# ── leftovers ─────────────────────────────────────────────────────────────────────────────────────


def _leftovers() -> Finding:
    from openenv.providers import owner

    dead = [
        f"{engine.name} {kind} {id[:12]}"
        for engine, kind in _owners()
        for id, labels in engine.owned(kind).items()
        if owner.is_dead(labels)
    ]
    if not dead:
        return Finding("ok", "nothing is left of programs that were killed")
    return Finding("partial", f"left of programs that were killed: {', '.join(dead)}", CLEANUP)


CLEANUP = "openenv doctor --cleanup"


def cleanup() -> list[str]:
    """Removes the containers and services whose programs were killed; gives what was removed."""
    from openenv.providers import leftovers

    return [
        f"{engine.name} {kind} {id[:12]}"
        for engine, kind in _owners()
        for id in leftovers.reap(engine, kind)
    ]


def _owners() -> list[tuple[Any, Any]]:
    """The engines that answer, and the kinds of things in them that have owners."""
    from openenv.providers.engine import Engine

    found: list[tuple[Any, Any]] = []
    for name in ("docker", "podman"):
        try:
            engine = Engine(name)
            engine.ping()
        except ProviderError:
            continue
        found.append((engine, "container"))
        if name == "docker" and engine.swarm().get("ControlAvailable"):
            found.append((engine, "service"))
    return found


CHECKS: Mapping[str, Callable[[], Finding]] = {
    "python": _python,
    "packages": _packages,
    "sandbox": _sandbox,
    "docker": _docker,
    "podman": _podman,
    "kubernetes": _kubernetes,
    "uv": _uv,
    "git": _git,
    "hub": _hub,
    "leftovers": _leftovers,
}
"""What is looked at, by name."""
