"""What an environment promises to whoever trains on it, and how a broken promise shows.

Each function plays a stage and says what it has seen. They are what `check_environment` and
`openenv validate` have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from math import isfinite
from typing import Any

from openenv.protocol.errors import (
    EnvironmentFailed,
    InvalidRequest,
    ResetRequired,
    SessionCapacityError,
    SessionError,
)
from openenv.rollout.made_up.calls import Player, is_call
from openenv.rollout.made_up.fitting import Json, misfits
from openenv.testing.finding import Finding, broken, skipped
from openenv.testing.stage import Stage
from openenv.testing.trajectory import OTHER_SEED, Plan, Trajectory, Turn, play

SHOWN = 5
"""Faults of one kind that are told."""
_ALONE = "it holds one session at a time, so there is nothing to keep apart"


def episode(stage: Stage) -> Finding:
    """The plan can be played: every call is answered."""
    turns = stage.rehearsal
    steps = [turn for turn in turns if turn.action is not None]
    refused = [turn for turn in steps if turn.refusal is not None]
    told = [f"{turn.name}: {turn.refusal}" for turn in refused]
    measured = {
        "steps": len(steps) - len(refused),
        "refused": len(refused),
        "episodes": len(turns) - len(steps),
        "actions": "generated" if stage.plan.generated else "given",
    }
    if not refused:
        return _answered_well(stage, steps, measured)
    if not stage.plan.generated:
        return Finding.judged(told[:SHOWN], "", measured)
    if wrong := [f"{turn.name}: {turn.refusal}" for turn in refused if _breaks_rules(turn)]:
        return Finding.judged(wrong[:SHOWN], "", measured)
    if len(refused) < len(steps):
        return Finding.judged(told[:SHOWN], "", measured, mild=True)
    if failed := [turn for turn in refused if isinstance(turn.refusal, EnvironmentFailed)]:
        fault = f"no step was answered; {failed[0].name}: {failed[0].refusal}"
        return Finding.judged([fault], "", measured)
    return skipped(
        f"none of the actions that were made up from the schema means anything to it: {told[0]}",
        measured,
    )


def _answered_well(stage: Stage, steps: list[Turn], measured: Json) -> Finding:
    """No step was refused; but of calls that were made up, one has to give a result."""
    if stage.plan.generated and steps and all(map(_call_fault, steps)):
        fault = f"{steps[0].name}: {_call_fault(steps[0])}"
        return skipped(f"none of the calls that were made up gave a result: {fault}", measured)
    seen = f"{len(steps)} steps in {measured['episodes']} episodes were answered"
    return Finding.judged([], seen, measured)


def _call_fault(turn: Turn) -> str | None:
    """What was wrong with the call of a tool; `None` if it gave a result, or is no call."""
    error = turn.observation.get("error") if is_call(turn.action) else None
    return str(error.get("message")) if isinstance(error, dict) else None


def _breaks_rules(turn: Turn) -> bool:
    """Whether a step failed as no action, however meaningless, may make it fail.

    What its code raises is told with the exception and the operation; what it returns wrongly and
    what tries to end the server with one of them, what cannot be sent with its type.
    """
    refusal = turn.refusal
    if not isinstance(refusal, EnvironmentFailed):
        return False
    whose = refusal.details.keys() & {"exception", "operation"}
    plain = refusal.code == EnvironmentFailed.code
    return not plain or len(whose) == 1 or "value_type" in refusal.details


def reward(stage: Stage) -> Finding:
    """Every step's reward is a finite number, in the range that is declared."""
    given = [(turn, turn.observation["reward"]) for turn in _answered(stage)]
    faults = [
        f"{turn.name}: {fault}"
        for turn, value in given
        if (fault := _reward_fault(value, turn, stage.reward_range))
    ]
    numbers = [value for _, value in given if isinstance(value, int | float) and isfinite(value)]
    least, most = (min(numbers), max(numbers)) if numbers else (None, None)
    declared = stage.reward_range
    seen = f"rewards from {least} to {most}" if numbers else "no step gave a reward"
    seen += f", {list(declared)} is declared" if declared else "; no range is declared"
    measured = {"least": least, "most": most, "declared": declared, "rewards": len(numbers)}
    return Finding.judged(faults[:SHOWN], seen, measured)


def _reward_fault(value: Any, turn: Turn, declared: tuple[float, float] | None) -> str | None:
    if value is None:
        return None if turn.action is None or is_call(turn.action) else "gave no reward"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"its reward is {value!r}, which is no number"
    if not isfinite(value):
        return f"its reward is {value}"
    if declared is not None and turn.action is not None and not _within(value, declared):
        return f"its reward {value} is outside of {list(declared)}"
    return None


def _within(value: float, declared: tuple[float, float]) -> bool:
    return declared[0] <= value <= declared[1]


def observation_schema(stage: Stage) -> Finding:
    """What comes is what the schema says that comes."""
    schema = stage.schemas.get("observation") or {}
    first = stage.schemas.get("reset_observation") or schema
    faults = []
    for turn in _answered(stage):
        expected = first if turn.action is None else schema
        faults += [f"{turn.name}: {fault}" for fault in misfits(expected, _as_sent(turn))]
    count = len(_answered(stage))
    seen = f"{count} observations fit the schema"
    return Finding.judged(faults[:SHOWN], seen, {"observations": count})


def _as_sent(turn: Turn) -> Json:
    """An observation as its schema describes it: `truncated` is named only when it is true."""
    assert turn.result is not None, "it was answered"
    truncated = {"truncated": True} if turn.result.truncated else {}
    return {**turn.observation, **truncated}


def state_contract(stage: Stage) -> Finding:
    """The state echoes the `episode_id` of the reset, and counts the steps."""
    schema = stage.schemas.get("state") or {}
    faults = []
    for turn in _answered(stage):
        faults += [f"{turn.name}: {fault}" for fault in _state_faults(turn, stage.plan, schema)]
    looks = len(_answered(stage))
    seen = f"{looks} looks at the state: episode_id and step_count agree"
    return Finding.judged(faults[:SHOWN], seen, {"looks": looks})


def _state_faults(turn: Turn, plan: Plan, schema: Json) -> Iterator[str]:
    state = turn.state or {}
    if state.get("episode_id") != plan.episode_id:
        yield (
            f"state.episode_id is {state.get('episode_id')!r}, reset was given {plan.episode_id!r}"
        )
    if state.get("step_count") != turn.steps:
        yield f"state.step_count is {state.get('step_count')!r} after {turn.steps} step(s)"
    yield from (f"state.{fault}" for fault in misfits(schema, state))


def episode_end(stage: Stage) -> Finding:
    """What has ended stays ended, until a reset."""
    ended = [turn for turn in _answered(stage) if turn.observation["done"]]
    measured = {"ended": len(ended), "truncated": sum(_truncated(turn) for turn in ended)}
    faults = [
        f"{turn.name}: is truncated, and not done"
        for turn in _answered(stage)
        if _truncated(turn) and not turn.observation["done"]
    ]
    if not ended:
        steps = sum(turn.action is not None for turn in stage.rehearsal)
        return Finding.judged(faults, f"no episode ended within {steps} steps", measured)
    with stage.session() as client:
        faults += _goes_on_after_the_end(client, stage.plan)
    return Finding.judged(faults, "a step after the end begins no new episode", measured)


def _truncated(turn: Turn) -> bool:
    return turn.result is not None and turn.result.truncated


def _goes_on_after_the_end(client: Player, plan: Plan) -> list[str]:
    last = next((turn for turn in play(client, plan) if turn.observation.get("done")), None)
    if last is None or last.action is None:
        return []
    try:
        after = client.step(last.action)
    except (ResetRequired, EnvironmentFailed, InvalidRequest):
        return []
    count = _step_count(client)
    if count is not None and count < last.steps:
        return [f"a step after the end began a new episode: step_count fell to {count}"]
    return [] if after.done else ["a step after the end was answered with done = false"]


def _step_count(client: Player) -> int | None:
    count = client.state().get("step_count")
    return count if isinstance(count, int) else None


def call_order(stage: Stage) -> Finding:
    """A session bears calls in the wrong order: the state before a reset, a step before it."""
    slips = []
    with stage.session() as client:
        try:
            client.state()
        except EnvironmentFailed as error:
            slips.append(f"the state before the first reset: {error}")
        first = stage.plan.actions[0]
        try:
            client.step(first)
            seen = "answered"
        except (InvalidRequest, EnvironmentFailed) as refusal:
            seen = f"refused with {refusal.code}"
        try:
            client.reset(**stage.plan.reset())
        except SessionError as error:
            return broken(f"after a step before the reset, a reset fails: {error}")
    told = f"a step before the reset was {seen}"
    return Finding.judged(slips, told, {"step_before_reset": seen}, mild=True)


def invalid_action(stage: Stage) -> Finding:
    """What is no action is refused as such, and the episode goes on."""
    unknown = {**stage.plan.actions[0], "openenv_unknown_field": 1}
    if not misfits(stage.schemas.get("action") or {}, unknown):
        return Finding.judged([], "its schema takes any field, so any object is an action")
    with stage.session() as client:
        client.reset(**stage.plan.reset())
        try:
            client.step(unknown)
            return broken(f"{unknown!r} was taken, which its action schema forbids")
        except InvalidRequest as refusal:
            seen = f"a field that it does not know is refused with {refusal.code}"
        except EnvironmentFailed as error:
            return broken(f"an invalid action reached the environment, and: {error}")
        try:
            client.step(stage.plan.actions[0])
        except (InvalidRequest, EnvironmentFailed) as error:
            if not stage.plan.generated:
                return broken(f"after an invalid action, a valid one fails: {error}")
        client.state()
    return Finding.judged([], seen)


def seed_control(stage: Stage) -> Finding:
    """A reset with the same seed begins the same episode, in the same session."""
    with stage.session() as client:
        first = list(play(client, stage.plan))
        again = list(play(client, stage.plan))
        other = list(play(client, replace(stage.plan, seed=OTHER_SEED + 1000)))
    parted = stage.difference(first, again)
    matters = stage.difference(first, other) is not None
    seen = "the same seed begins the same episode; another seed " + (
        "begins another" if matters else "changes nothing"
    )
    faults = [f"after a second reset with seed {stage.plan.seed}, {parted}"] if parted else []
    return Finding.judged(faults, seen, {"seed_matters": matters})


def determinism(stage: Stage) -> Finding:
    """The same seed and actions give the same observations and rewards in another session."""
    parted = stage.difference(stage.rehearsal, stage.played())
    faults = [f"in a second session, {parted}"] if parted else []
    turns = len(stage.rehearsal)
    return Finding.judged(
        faults, f"{turns} answers were the same in two sessions", {"turns": turns}
    )


def isolation(stage: Stage) -> Finding:
    """Two sessions side by side go as each goes alone."""
    if stage.capacity == 1:
        return Finding.judged([], _ALONE)
    plans = (stage.plan, replace(stage.plan, seed=OTHER_SEED + 2000, episode_id="openenv-other"))
    alone = [stage.played(plan) for plan in plans]
    if stage.difference(alone[0], stage.played(plans[0])) is not None:
        return skipped("its episodes differ from one time to the next, so mixing cannot be told")
    try:
        together = _interleaved(stage, plans)
    except SessionCapacityError:
        return Finding.judged([], _ALONE)
    faults = [
        f"beside another session, {parted}"
        for one, other in zip(alone, together, strict=True)
        if (parted := stage.difference(one, other))
    ]
    seen = "two sessions, call by call in turn, went as each goes alone"
    return Finding.judged(faults, seen, {"sessions": 2, "calls": sum(map(len, together))})


def _interleaved(stage: Stage, plans: tuple[Plan, Plan]) -> list[Trajectory]:
    with stage.session() as first, stage.session(patience_s=0) as second:
        turns = list(zip_longest(play(first, plans[0]), play(second, plans[1])))
    return [[turn for turn in side if turn is not None] for side in zip(*turns, strict=True)]


def _answered(stage: Stage) -> list[Turn]:
    return [turn for turn in stage.rehearsal if turn.result is not None]
