"""Checks against what is declared, and against a second start."""

from __future__ import annotations

import time
from typing import Any

from openenv.testing.finding import Finding
from openenv.testing.trajectory import difference
from openenv.validation.checks.episodes import EPISODE
from openenv.validation.footprint import CAN_MEASURE, footprint
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject


def _envelope(subject: Subject) -> Finding:
    """Plays the plan once more and measures it against the resources that are declared."""
    declared = subject.declared
    assert declared is not None, "it applies only where something is declared"
    began = time.monotonic()
    subject.stage.played()
    took = round(time.monotonic() - began, 3)
    limits = declared.resources
    faults = []
    if took > limits.episode_timeout_s:
        faults.append(f"the plan took {took:g} s, {limits.episode_timeout_s:g} s are declared")
    measured: dict[str, Any] = {"episode_s": took, "declared": limits.model_dump(mode="json")}
    if subject.pid is not None and CAN_MEASURE:
        memory = measured["memory_mb"] = footprint(subject.pid).memory_mb
        if memory > limits.memory_mb:
            faults.append(f"the server holds {memory:.0f} MB, {limits.memory_mb} are declared")
    return Finding.judged(faults, f"the plan took {took:g} s", measured)


def _declares_nothing(subject: Subject) -> str | None:
    return "no resources are declared" if subject.declared is None else None


def _replayability(subject: Subject) -> Finding:
    """Plays the plan on a server that was started anew."""
    first = subject.stage.rehearsal
    with subject.another() as site:
        parted = difference(first, subject.stage_at(site).played())
    faults = [f"after a new start, {parted}"] if parted else []
    return Finding.judged(faults, f"{len(first)} answers were the same after a new start")


def _is_not_ours(subject: Subject) -> str | None:
    return None if subject.is_ours else "a server of others is not started anew"


CHECKS = (
    Check(
        "semantic.replayability",
        Level.SEMANTIC,
        "The same seed and actions give the same trajectory in a server that was started anew.",
        "Leave out what differs between processes: hashes of texts and the order of sets, process "
        "ids, addresses, files of the last run.",
        _replayability,
        needs=(EPISODE, "runtime.episode_determinism"),
        applies=_is_not_ours,
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
