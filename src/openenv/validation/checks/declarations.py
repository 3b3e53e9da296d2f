"""Checks of what is declared: the network, the tools, the resources."""

from __future__ import annotations

import time
from typing import Any

from openenv.protocol.errors import EnvironmentFactoryError, OpenEnvError
from openenv.testing.finding import Finding, broken, skipped
from openenv.validation.checks.episodes import EPISODE
from openenv.validation.footprint import CAN_MEASURE, footprint
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

NO_NETWORK = frozenset({"netns"})
"""What a sandbox has in force when it has no network."""


def _network(subject: Subject) -> Finding:
    """Plays the plan in a sandbox without a network."""
    declared = subject.declared
    assert declared is not None, "it applies only where something is declared"
    if declared.network.mode == "allowlist":
        return skipped("which hosts are reached is not measured; no-network would be")
    if subject.target.kind != "package":
        return skipped("only a package can be started in a sandbox without a network")
    with subject.another(host_kind="sandbox") as site:
        stage = subject.stage_at(site, subject.stage.plan)
        try:
            turns = stage.rehearsal
        except EnvironmentFactoryError as error:  # by the sandbox, or by the author's constructor
            return skipped(f"no session could be opened in a sandbox: {error}")
        except OpenEnvError as error:
            return broken(f"without a network: {error}")
        isolation = site.get("/health").field("isolation") or {}
    missing = sorted(NO_NETWORK - set(isolation.get("in_force", [])))
    if missing:
        return skipped(f"this machine cannot take the network away ({', '.join(missing)})")
    faults = [f"without a network, {turn.name}: {turn.refusal}" for turn in turns if turn.refusal]
    return Finding.judged(faults, "the plan was played without a network", {"turns": len(turns)})


def _declares_no_limit(subject: Subject) -> str | None:
    mode = "public" if subject.declared is None else subject.declared.network.mode
    return "it does not declare that it stays off the network" if mode == "public" else None


def _tools(subject: Subject) -> Finding:
    """Compares the tools that are declared with those that are offered."""
    assert subject.declared is not None, "it applies only where something is declared"
    declared = set(subject.declared.capabilities.declared_tools)
    answer = subject.server.post("/mcp", {"jsonrpc": "2.0", "method": "tools/list", "id": 1})
    offered = _names(answer.field("result"))
    faults = [f"{name} is declared, and not offered" for name in sorted(declared - offered)]
    faults += [f"{name} is offered, and not declared" for name in sorted(offered - declared)]
    measured = {"declared": sorted(declared), "offered": sorted(offered)}
    return Finding.judged(faults, f"the {len(offered)} declared tools are offered", measured)


def _names(result: Any) -> set[str]:
    tools = result.get("tools") if isinstance(result, dict) else None
    return {str(tool.get("name")) for tool in tools or () if isinstance(tool, dict)}


def _declares_no_tools(subject: Subject) -> str | None:
    declared = subject.declared
    has_some = declared is not None and declared.capabilities.declared_tools
    return None if has_some else "no tools are declared"


def _envelope(subject: Subject) -> Finding:
    """Plays the plan once more and measures it against the resources that are declared."""
    declared = subject.declared
    assert declared is not None, "it applies only where something is declared"
    began = time.monotonic()
    subject.stage.played()
    took = round(time.monotonic() - began, 3)
    limits = declared.resources
    measured: dict[str, Any] = {"episode_s": took, "declared": limits.model_dump(mode="json")}
    faults = []
    if took > limits.episode_timeout_s:
        faults.append(f"the plan took {took:g} s, {limits.episode_timeout_s:g} s are declared")
    if subject.pid is not None and CAN_MEASURE:
        memory = measured["memory_mb"] = footprint(subject.pid).memory_mb
        if memory > limits.memory_mb:
            faults.append(f"the server holds {memory:.0f} MB, {limits.memory_mb} are declared")
    return Finding.judged(faults, f"the plan took {took:g} s", measured)


def _declares_nothing(subject: Subject) -> str | None:
    return "no resources are declared" if subject.declared is None else None


CHECKS = (
    Check(
        "runtime.network_policy",
        Level.RUNTIME,
        "An environment that declares `network: {mode: no-network}` can be played in a sandbox "
        "without one.",
        "Put what is fetched into the package; or declare `public`, or the hosts in an allow-list.",
        _network,
        needs=(EPISODE,),
        applies=_declares_no_limit,
    ),
    Check(
        "runtime.tool_declaration_accuracy",
        Level.RUNTIME,
        "The tools that `tools/list` offers are those in `capabilities.declared_tools`.",
        "Declare each tool by its name, or offer it.",
        _tools,
        needs=("runtime.startup",),
        applies=_declares_no_tools,
    ),
    Check(
        "semantic.resource_envelope",
        Level.SEMANTIC,
        "The environment stays within the `resources` that it declares.",
        "Declare what it needs, or make it need less.",
        _envelope,
        needs=(EPISODE,),
        applies=_declares_nothing,
    ),
)
