"""Sandbox: what the sessions of a server are confined by, decided before any of them."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from openenv.env.spec import EnvSpec
from openenv.protocol.errors import ConfigurationError
from openenv.runtime.concealed import find_concealed
from openenv.runtime.confine import (
    Applied,
    ConfineError,
    Confinement,
    Features,
    Isolation,
    Usage,
    may_show,
    probe,
    sweep,
)
from openenv.runtime.offspring import OUT_OF_MEMORY
from openenv.runtime.plan import Plan

logger = logging.getLogger("openenv.sessions")

LEAST_MEMORY = 16 << 20


@dataclass(frozen=True)
class Sandbox:
    """What each session is allowed, and by what it is held. Pickled, for the zygote.

    Attributes:
        confinement: what a session may use and see.
        features: what this machine has to hold it.
        strict: a session that would lack any of that does not run.
    """

    confinement: Confinement
    features: Features
    strict: bool

    @classmethod
    def of(cls, spec: EnvSpec, plan: Plan, isolation: Isolation) -> Sandbox:
        """The sandbox for an environment, on this machine.

        Raises:
            ConfigurationError: it must be strict, and this machine lacks something.
        """
        _check_limits(spec)
        readable = tuple(_code(plan))
        confinement = Confinement(
            network=spec.traits.network,
            memory_bytes=spec.traits.memory_limit,
            cpu_s=spec.traits.cpu_limit,
            readable=readable,
            concealed=find_concealed(readable),
        )
        sandbox = cls.around(confinement, isolation)
        features = sandbox.features
        if confinement.concealed and not ("mountns" in features or "landlock" in features):
            logger.warning(
                "this machine has nothing to keep sessions from hidden files and credentials "
                "beside the environment's code: %s",
                ", ".join(confinement.concealed),
            )
        return sandbox

    @classmethod
    def around(cls, confinement: Confinement, isolation: Isolation) -> Sandbox:
        """The sandbox that allows this much, on this machine.

        Raises:
            ConfigurationError: it must be strict, and this machine lacks something.
        """
        features = probe()
        if isolation == "strict" and features.missing:
            raise ConfigurationError(
                "isolation='strict' needs what this machine does not give: "
                f"{_list(features.missing)}; isolation='best' serves without, `openenv doctor` "
                "says how to get it"
            )
        return cls(confinement, features, strict=isolation == "strict")

    def report(self) -> dict[str, Any]:
        """What of it is in force, for `/health`."""
        features = self.features
        if self.confinement.shares_network:
            features = features.without(["netns"], "the environment declares NETWORK = True")
        return {
            "level": features.level,
            "in_force": list(features.available),
            "missing": dict(features.missing),
        }

    def sweep(self) -> None:
        """Removes what sessions have left whose zygote was killed."""
        sweep()

    def refuse(self, applied: Applied) -> ConfineError | None:
        """Why a session must not run that is confined by no more than this."""
        if not (self.strict and applied.missing):
            return None
        return ConfineError(f"isolation='strict', but this session lacks {_list(applied.missing)}")

    def limit_reached(self, usage: Usage, code: int, *, overtime: bool) -> str:
        """The limit that a session's process has died of, empty if it was none.

        Args:
            usage: what it has used.
            code: its exit code.
            overtime: whether its CPU time was over.
        """
        limits = self.confinement
        if usage.out_of_memory and code == -signal.SIGKILL:
            return f"{OUT_OF_MEMORY} of {_size(limits.memory_bytes)} was reached"
        if overtime:
            return f"its limit of {limits.cpu_s:g} s of CPU time was reached"
        return ""


def _check_limits(spec: EnvSpec) -> None:
    memory, cpu = spec.traits.memory_limit, spec.traits.cpu_limit
    if not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise ConfigurationError(
            f"{spec.name}.MEMORY_LIMIT must be a number of bytes, at least {_size(LEAST_MEMORY)}, "
            f"got {memory!r}"
        )
    if cpu is not None and (not isinstance(cpu, int | float) or cpu <= 0):
        raise ConfigurationError(
            f"{spec.name}.CPU_LIMIT must be a number of seconds above 0, or None, got {cpu!r}"
        )


def _list(missing: Mapping[str, str]) -> str:
    """Features by why they are missing, and what helps against it, each said once."""
    by_remedy: dict[str, dict[str, list[str]]] = {}
    for name, reason in missing.items():
        why, _, remedy = reason.partition("; ")
        by_remedy.setdefault(remedy, {}).setdefault(why, []).append(name)
    return "; ".join(
        ", ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
        + (f": {remedy}" if remedy else "")
        for remedy, reasons in by_remedy.items()
    )


def _size(count: int) -> str:
    """A number of bytes for people."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def _code(plan: Plan) -> Iterable[str]:
    """Where the environment's code lies: directories of modules, but none that hold much else."""
    for entry in [*plan.path, *plan.files.values(), plan.main[1] or ""]:
        path = os.path.abspath(entry)
        if entry and may_show(path):
            yield path
