"""Checks of what is played: the promises of an environment, over the wire."""

from __future__ import annotations

from openenv.rollout.made_up.samples import NoSample
from openenv.testing.contract import EPISODE as PLAYED
from openenv.testing.contract import PROMISES, Promise
from openenv.testing.finding import Finding, Status, skipped
from openenv.validation.checks.endpoints import STARTUP
from openenv.validation.plan import PLAN, PlanError
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

EPISODE = f"runtime.{PLAYED.id}"


def _episode(subject: Subject) -> Finding:
    try:
        return PLAYED.look(subject.stage)
    except NoSample as error:
        return skipped(f"no action can be made up, and there is no {PLAN}: {error}")
    except PlanError as error:
        return Finding(Status.FAIL, (str(error),))


def _is_closed(subject: Subject) -> str | None:
    """Whether the server lets nobody control its episodes."""
    mode = (subject.running or {}).get("mode")
    return "episodes cannot be controlled in production mode" if mode == "production" else None


def _check(promise: Promise) -> Check:
    return Check(
        f"runtime.{promise.id}",
        Level.RUNTIME,
        promise.meaning,
        promise.mend,
        lambda subject: promise.look(subject.stage),
        needs=(EPISODE,),
    )


def _replayed(subject: Subject) -> Finding:
    """Plays the plan on a server that was started anew."""
    first, plan = subject.stage.rehearsal, subject.stage.plan
    with subject.another() as site:
        parted = subject.stage.difference(first, subject.stage_at(site, plan).played())
    faults = [f"after a new start, {parted}"] if parted else []
    return Finding.judged(faults, f"{len(first)} answers were the same after a new start")


def _is_not_ours(subject: Subject) -> str | None:
    return None if subject.is_ours else "a server of others is not started anew"


CHECKS = (
    Check(
        EPISODE,
        Level.RUNTIME,
        PLAYED.meaning,
        PLAYED.mend,
        _episode,
        needs=(STARTUP,),
        applies=_is_closed,
    ),
    *map(_check, PROMISES),
    Check(
        "semantic.replayability",
        Level.SEMANTIC,
        "The same seed and actions give the same trajectory in a server that was started anew.",
        "Leave out what differs between processes: hashes of texts and the order of sets, process "
        "ids, addresses, files of the last run.",
        _replayed,
        needs=(EPISODE, "runtime.episode_determinism"),
        applies=_is_not_ours,
    ),
)
