"""Rewards: what a rubric found, told in the observation that it is about.

A reward that could not be computed is `None`, and `metadata["reward_error"]` says why. Where a
session is asked to explain, `metadata["rubric"]` has the tree of scores. The last observation of an
episode has what each of its steps is worth in `metadata["step_rewards"]`, if the rubric says so.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from openenv.env.incidents import incident
from openenv.env.models import is_done, is_observation
from openenv.protocol.errors import InvalidRequest, Json
from openenv.protocol.saying import authors_traceback
from openenv.rubrics.base import Rubric, awaits_reset
from openenv.rubrics.blocking import awaited, on_a_loop
from openenv.rubrics.evaluation import Trace, number
from openenv.rubrics.function import as_rubric
from openenv.rubrics.score import Failure, Score
from openenv.rubrics.settling import is_pending

if TYPE_CHECKING:
    from openenv.env.environment import Environment

    AnyEnvironment = Environment[Any, Any, Any]

REWARD_ERROR = "reward_error"
STEP_REWARDS = "step_rewards"
EXPLANATION = "rubric"
EXPLAIN = "explain_rewards"
"""The option of `reset` that asks for explanations."""

_ASKED = "_explains_rewards"
_APPLIED = "_applied_rubric"

logger = logging.getLogger("openenv.rubrics")

Call = Callable[[], object]


def apply(environment: AnyEnvironment, action: Any, observation: Any) -> Any:
    """The score of the environment's rubric, 0.0 without one.

    An async rubric is waited for, unless an event loop runs in this thread: then the result is to
    be awaited.
    """
    if environment.rubric is None:
        return Score(0.0)
    environment.__dict__[_APPLIED] = True
    return _waited_for(as_rubric(environment.rubric)(action, observation))


def rewarded(environment: AnyEnvironment, action: Any, observation: Any) -> Any:
    """The observation with its reward, or something to await for it, as `apply`."""
    if environment.rubric is None:
        return observation
    score = apply(environment, action, observation)
    if is_pending(score):
        return _rewarded_later(environment, observation, score)
    return _with_reward(environment, observation, score)


def forget(environment: AnyEnvironment) -> Awaitable[None] | None:
    """Has the environment's rubric forget the episode; gives what does so when awaited, if any."""
    rubric: Any = environment.rubric
    awaits = hasattr(rubric, "reset_async")
    if isinstance(rubric, Rubric):
        awaits = any(awaits_reset(one) for one in (rubric, *rubric.rubrics()))
    if not awaits:
        _forgotten(rubric)
        return None
    pending: Awaitable[None] | None = _waited_for(rubric.reset_async())
    return pending


def forget_now(environment: AnyEnvironment) -> None:
    """The same for callers that cannot await: on an event loop it is the rubric's `reset`."""
    if on_a_loop():
        _forgotten(environment.rubric)
    else:
        forget(environment)


def _forgotten(rubric: object) -> None:
    reset = getattr(rubric, "reset", None)
    if reset is not None:
        reset()


def _waited_for(value: Any) -> Any:
    return awaited(value) if is_pending(value) and not on_a_loop() else value


async def _rewarded_later(environment: AnyEnvironment, observation: Any, pending: Any) -> Any:
    return _with_reward(environment, observation, await pending)


def _with_reward(environment: AnyEnvironment, observation: Any, score: Score) -> Any:
    reward = float(score) if score.valid else None
    return told(environment, observation.model_copy(update={"reward": reward}), score)


def beginning(environment: AnyEnvironment, call: Call) -> Call:
    """A call of `reset`; if it does not fail, nothing is left of the rubric's last episode."""
    return call if environment.rubric is None else partial(_begin, environment, call)


def scoring(environment: AnyEnvironment, call: Call) -> Call:
    """A call, whose observation tells what the rubrics found that were called in it."""
    return call if environment.rubric is None else partial(_score, environment, call)


def explaining(environment: AnyEnvironment, options: Json) -> Json:
    """The options of a reset without the one that asks for explanations, which is taken note of.

    Raises:
        InvalidRequest: it is neither true nor false.
    """
    environment.__dict__.pop(_ASKED, None)
    if environment.rubric is None or EXPLAIN not in options:
        return options
    asked = options[EXPLAIN]
    if not isinstance(asked, bool):
        raise InvalidRequest(f"Invalid reset: {EXPLAIN} must be true or false, got {asked!r:.60}")
    environment.__dict__[_ASKED] = asked
    return {name: value for name, value in options.items() if name != EXPLAIN}


def _begin(environment: AnyEnvironment, call: Call) -> object:
    trace = Trace()
    with trace:
        value = call()
    forgetting = None if is_pending(value) else _forget_after(environment, trace)
    if is_pending(value) or forgetting is not None:
        return _begin_later(environment, trace, value, forgetting)
    return _traced(environment, trace, value)


async def _begin_later(
    environment: AnyEnvironment, trace: Trace, value: object, forgetting: Awaitable[None] | None
) -> object:
    if is_pending(value):
        with trace:
            value = await value
        forgetting = _forget_after(environment, trace)
    if forgetting is not None:
        await forgetting
    return _traced(environment, trace, value)


def _forget_after(environment: AnyEnvironment, trace: Trace) -> Awaitable[None] | None:
    """Forgets after a reset that went well, unless that has fed the rubric with something new."""
    return None if trace.calls else forget(environment)


def _score(environment: AnyEnvironment, call: Call) -> object:
    trace = Trace()
    with trace:
        value = call()
    if is_pending(value):
        return _score_later(environment, trace, value)
    return _traced(environment, trace, value)


async def _score_later(
    environment: AnyEnvironment, trace: Trace, pending: Awaitable[object]
) -> object:
    with trace:
        value = await pending
    return _traced(environment, trace, value)


def _traced(environment: AnyEnvironment, trace: Trace, value: object) -> object:
    if not is_observation(value):
        return value
    observation: Any = value
    if trace.has_strays() and isinstance(environment.rubric, Rubric):
        trace.adopt(chain([environment.rubric], environment.rubric.rubrics()))
    verdict = trace.verdict()
    if verdict is not None:
        observation = told(environment, observation, verdict)
    elif is_done(observation):
        _miss(environment, observation)
    reward = observation.reward
    if reward is None or isfinite(reward):
        return observation
    return _unrated(environment, observation, reward)


def _miss(environment: AnyEnvironment, observation: Any) -> None:
    """Says, once in a session, that an episode has ended of which its rubric has seen nothing."""
    was_called = getattr(environment.rubric, "last_score", None) is not None
    if observation.reward is not None or was_called or _APPLIED in environment.__dict__:
        return
    environment.__dict__[_APPLIED] = False  # one word is enough
    logger.warning(
        "%s has a rubric that was never called, and its episode ended without a reward: end a step "
        "with `return self.rewarded(action, observation)`, in an async environment with "
        "`return await self.rewarded_async(action, observation)`",
        type(environment).__name__,
    )


def _unrated(environment: AnyEnvironment, observation: Any, reward: float) -> Any:
    """An observation whose reward is no finite number, which no rubric has said."""
    name = type(environment).__name__
    what = f"the environment itself gave the reward {reward}, which is no finite number"
    logger.warning("%s: %s", name, what)
    failure = {"rubric": None, "error": "ValueError", "message": what}
    metadata = {**observation.metadata, REWARD_ERROR: failure}
    return observation.model_copy(update={"reward": None, "metadata": metadata})


def told(environment: AnyEnvironment, observation: Any, score: Score) -> Any:
    """An observation that says what a score has beside its number; the same if that is nothing."""
    found: Json = {EXPLANATION: score.explained()} if _explains(environment) else {}
    failure = score.failure if score.counts_as_failed else None
    if failure is None and is_done(observation) and STEP_REWARDS not in observation.metadata:
        failure, credits_ = _credited(environment)
        found.update(credits_)
    update: Json = {}
    if failure is not None:
        update["reward"] = None
        found[REWARD_ERROR] = _reported(environment, failure)
    if not found:
        return observation
    return observation.model_copy(update={**update, "metadata": {**observation.metadata, **found}})


def _credited(environment: AnyEnvironment) -> tuple[Failure | None, Json]:
    """What each step is worth, where the rubric says so; or why it cannot."""
    compute = getattr(environment.rubric, "compute_step_rewards", None)
    if compute is None:
        return None, {}
    try:
        return None, {STEP_REWARDS: [number(reward) for reward in compute()]}
    except Exception as error:  # noqa: BLE001  # the author's
        title = f"{_title(environment)}.compute_step_rewards"
        logger.warning("%s failed\n%s", title, authors_traceback(error).rstrip())
        return Score.failed(title, error).failure, {}


def _title(environment: AnyEnvironment) -> str:
    return type(environment.rubric).__name__


def _in_production(environment: AnyEnvironment) -> bool:
    return environment.__dict__.get("_mode") == "production"


def _explains(environment: AnyEnvironment) -> bool:
    """Whether scores are explained; never to those who are served in production."""
    asked = environment.__dict__.get(_ASKED, environment.explain_rewards)
    return bool(asked) and not _in_production(environment)


def _reported(environment: AnyEnvironment, failure: Failure) -> dict[str, str]:
    told = failure.to_dict()
    if _in_production(environment):
        what = f"the rubric of {type(environment).__name__}"
        _, told["message"] = incident(RuntimeError(str(failure)), what)
        told["error"] = "incident"
    return told
