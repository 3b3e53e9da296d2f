"""Checks of what is played: the promises of an environment, over the wire."""

from __future__ import annotations

from collections.abc import Callable

from openenv.testing import promises
from openenv.testing.finding import Finding, Status, skipped
from openenv.testing.samples import NoSample
from openenv.testing.stage import Stage
from openenv.validation.checks.endpoints import STARTUP
from openenv.validation.plan import PLAN, PlanError
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

EPISODE = "runtime.episode"


def _episode(subject: Subject) -> Finding:
    try:
        return promises.episode(subject.stage)
    except NoSample as error:
        return skipped(f"no action can be made up, and there is no {PLAN}: {error}")
    except PlanError as error:
        return Finding(Status.FAIL, (str(error),))


def _played(promise: Callable[[Stage], Finding]) -> Callable[[Subject], Finding]:
    return lambda subject: promise(subject.stage)


def _check(identity: str, promise: Callable[[Stage], Finding], meaning: str, mend: str) -> Check:
    return Check(identity, Level.RUNTIME, meaning, mend, _played(promise), needs=(EPISODE,))


CHECKS = (
    Check(
        EPISODE,
        Level.RUNTIME,
        f"Episodes can be played: the actions of `{PLAN}`, or some made up from the action's "
        "schema, are answered.",
        f"Mend what `reset` or `step` raises. Where made-up actions mean nothing, write {PLAN}: "
        '{"plan_schema_version": "1", "reset": {"seed": 1}, "actions": [{…}, …]}.',
        _episode,
        needs=(STARTUP,),
    ),
    _check(
        "runtime.reward_well_formed",
        promises.reward,
        "Every step's reward is a finite number, within `reward.range` if that is declared.",
        "Set `reward` in every observation that `step` returns, and keep it in the range; give a "
        "scale to what has none.",
    ),
    _check(
        "runtime.observation_schema",
        promises.observation_schema,
        "Observations are as `GET /schema` says that they are.",
        "Return the observation class that the environment declares, with values of its types.",
    ),
    _check(
        "runtime.state_contract",
        promises.state_contract,
        "After a reset the state has the `episode_id` that was asked for, and its `step_count` is "
        "the number of steps since.",
        "Leave `state` out, and the session keeps it; or store `episode_id` in `reset`, set "
        "`step_count` to 0 there and add 1 in `step`.",
    ),
    _check(
        "runtime.episode_end",
        promises.episode_end,
        "What has ended stays ended: truncated implies done, and a step after the end begins no "
        "new episode by itself.",
        "Leave `REQUIRES_RESET` as it is, and such steps are refused; or answer them with "
        "`done=True`.",
    ),
    _check(
        "runtime.call_order",
        promises.call_order,
        "A session survives a look at its state, and a step, before the first reset.",
        "Leave `REQUIRES_RESET` as it is; set up what `reset` needs in `__init__`.",
    ),
    _check(
        "runtime.invalid_action",
        promises.invalid_action,
        "What the action's schema forbids is refused as such, and the episode goes on.",
        "Declare the action's class, a subclass of `Action`, and let nothing else parse actions.",
    ),
    _check(
        "runtime.seed_control",
        promises.seed_control,
        "A second reset with the same seed begins the same episode again.",
        "Take `seed` in `reset`, make a generator of it (`random.Random(seed)`), use no other, and "
        "let nothing of the last episode remain.",
    ),
    _check(
        "runtime.episode_determinism",
        promises.determinism,
        "The same seed and actions give the same observations and rewards in another session.",
        "Draw from the seed's generator alone; leave clocks, ids and global generators out of "
        "observations, or put them into `metadata`.",
    ),
    _check(
        "runtime.episode_isolation",
        promises.isolation,
        "Two sessions side by side go as each goes alone.",
        "Keep state in the instance, not in the class or module; if instances must share it, write "
        "`SUPPORTS_CONCURRENT_SESSIONS = False`.",
    ),
)
