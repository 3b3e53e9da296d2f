"""`check_environment`: an author's test of all that an environment promises, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from openenv.client.codec import fields_of
from openenv.client.generic import GenericEnvClient
from openenv.env.models import pack, unpack, validate
from openenv.env.spec import EnvironmentSource, EnvSpec
from openenv.in_process import local
from openenv.protocol.errors import OpenEnvError
from openenv.rollout.made_up.calls import Player, made_up
from openenv.rollout.made_up.fitting import Json, same
from openenv.rollout.made_up.samples import NoSample
from openenv.runtime.worker import BlockingCalls
from openenv.server.info import schemas
from openenv.testing import promises
from openenv.testing.finding import Finding, Status, broken
from openenv.testing.stage import Stage
from openenv.testing.trajectory import SEED, Plan, Turn

GENERATED = 16
"""Actions that are made up where none are given."""


@dataclass(frozen=True)
class Promise:
    """Something that holds for every environment.

    Attributes:
        id: its name; `openenv validate` has it with `runtime.` in front.
        meaning: what holds, a sentence.
        mend: what to do where it does not.
        look: plays an environment, and says what it has seen.
    """

    id: str
    meaning: str
    mend: str
    look: Callable[[Stage], Finding]


EPISODE = Promise(
    "episode",
    "Episodes can be played: the given actions, or some made up from the action's schema, are "
    "answered.",
    "Mend what `reset` or `step` raises. Where made-up actions mean nothing, give some that do: "
    "`actions=` of `check_environment`, `validation/runtime.json` for `openenv validate`.",
    promises.episode,
)
PROMISES = (
    Promise(
        "reward_well_formed",
        "Every step's reward is a finite number, within the range that is declared; a call of a "
        "tool may have none.",
        "Set `reward` in every observation that `step` returns, and keep it in the range.",
        promises.reward,
    ),
    Promise(
        "observation_schema",
        "Observations are as the schema of their class says.",
        "Return the observation class that the environment declares, with values of its types.",
        promises.observation_schema,
    ),
    Promise(
        "state_contract",
        "After a reset the state has the `episode_id` that was asked for, and its `step_count` is "
        "the number of steps since.",
        "Leave `state` out, and the session keeps it; or store `episode_id` in `reset`, set "
        "`step_count` to 0 there and add 1 in `step`.",
        promises.state_contract,
    ),
    Promise(
        "episode_end",
        "What has ended stays ended: truncated implies done, and a step after the end begins no "
        "new episode by itself.",
        "Leave `REQUIRES_RESET` as it is, and such steps are refused; or answer them with "
        "`done=True`.",
        promises.episode_end,
    ),
    Promise(
        "call_order",
        "A session survives a look at its state, and a step, before the first reset.",
        "Leave `REQUIRES_RESET` as it is, and set up what `reset` needs in `__init__`.",
        promises.call_order,
    ),
    Promise(
        "invalid_action",
        "What the action's schema forbids is refused as such, and the episode goes on.",
        "Declare the action's class, a subclass of `Action`, and let nothing else parse actions.",
        promises.invalid_action,
    ),
    Promise(
        "seed_control",
        "A second reset with the same seed begins the same episode again.",
        "Take `seed` in `reset`, make a generator of it (`random.Random(seed)`), use no other, and "
        "let nothing of the last episode remain.",
        promises.seed_control,
    ),
    Promise(
        "episode_determinism",
        "The same seed and actions give the same observations and rewards in another session.",
        "Draw from the seed's generator alone; leave clocks, ids and global generators out of "
        "observations, or put them into `metadata`.",
        promises.determinism,
    ),
    Promise(
        "episode_isolation",
        "Two sessions side by side go as each goes alone.",
        "Keep state in the instance, not in the class or module; if instances must share it, write "
        "`SUPPORTS_CONCURRENT_SESSIONS = False`.",
        promises.isolation,
    ),
)


def check_environment(
    env: EnvironmentSource,
    action_cls: Any = None,
    observation_cls: Any = None,
    *,
    actions: Sequence[BaseModel | Json] | None = None,
    reward_range: tuple[float, float] | None = None,
    seed: int = SEED,
    **options: Any,
) -> None:
    """Plays an environment in this process, and says all that is wrong with it at once.

    Args:
        env: an `Environment` class, a factory or an instance.
        action_cls: needed where the environment's class does not say it.
        observation_cls: likewise.
        actions: what to do, in order; by default actions made up from the action's class, or calls
            made up from the schemas of its tools.
        reward_range: the least and the largest reward of a step; any finite one by default.
        seed: of the first reset.
        **options: further keywords of every reset.

    Raises:
        AssertionError: it breaks a promise. The text lists each that it breaks, how that showed,
            and how to mend it.
        ConfigurationError: `env` makes no environments, or its types cannot be told.
    """
    spec = EnvSpec.of(env, action_cls, observation_cls)
    described = schemas(spec).model_dump()

    def player() -> Player:
        return local(env, action_cls, observation_cls, client_class=GenericEnvClient).sync()

    try:
        doings = _given(actions) or made_up(described["action"], GENERATED, player)
    except NoSample as error:
        raise AssertionError(
            f"{spec.name}: no action can be made up, give some as actions=: {error}"
        ) from None
    stage = Stage(
        player,
        described,
        Plan(doings, seed, options=options, generated=actions is None),
        reward_range,
        capacity=1 if spec.shared or spec.traits.one_session else None,
    )
    with ThreadPoolExecutor(1) as beside_any_event_loop:
        problems = beside_any_event_loop.submit(_problems, spec, stage).result()
    if problems:
        count = "a promise" if len(problems) == 1 else f"{len(problems)} promises"
        raise AssertionError("\n".join([f"{spec.name} breaks {count}:", *problems]))


def _problems(spec: EnvSpec, stage: Stage) -> list[str]:
    """All that is wrong, a paragraph each."""
    episode = _looked(EPISODE, stage)
    told = _told(EPISODE, episode)
    if episode.status in (Status.FAIL, Status.SKIP):
        return told
    for promise in (*PROMISES, _round_trip(spec), _close_twice(spec)):
        finding = _looked(promise, stage)
        if finding.status is Status.FAIL:
            told += _told(promise, finding)
    return told


def _given(actions: Sequence[BaseModel | Json] | None) -> list[Json]:
    """The actions as the wire has them; none if they are to be made up."""
    if actions is None:
        return []
    if not actions:
        raise NoSample("actions= is empty")
    return [fields_of(each) if isinstance(each, BaseModel) else dict(each) for each in actions]


def _looked(promise: Promise, stage: Stage) -> Finding:
    """What a look shows; an error that the environment answers with instead is a fault, too."""
    try:
        return promise.look(stage)
    except OpenEnvError as error:
        return broken(str(error))


def _told(promise: Promise, finding: Finding) -> list[str]:
    if finding.status is Status.PASS:
        return []
    faults = "\n    ".join(finding.evidence)
    return [f"- {promise.id}: {promise.meaning}\n    {faults}\n    → {promise.mend}"]


def _round_trip(spec: EnvSpec) -> Promise:
    def look(stage: Stage) -> Finding:
        answered = [turn for turn in stage.rehearsal if turn.result is not None]
        faults = [f"{turn.name}: {fault}" for turn in answered if (fault := _lost(spec, turn))]
        return Finding.judged(faults[: promises.SHOWN], "observations survive JSON")

    return Promise(
        "round_trip",
        "An observation that was written as JSON reads as the same observation.",
        "Use fields that JSON can hold, or write a serializer and a validator that fit each other.",
        look,
    )


def _lost(spec: EnvSpec, turn: Turn) -> str | None:
    """What of an observation is not the same after it was read and written once more."""
    result = turn.result
    assert result is not None, "it was answered"
    sent = {"observation": result.observation, "done": result.done, "reward": result.reward}
    first = spec.reset_observation if turn.action is None else None
    expected = first or spec.observation
    try:
        read = validate(expected, unpack(expected, sent))
    except ValidationError as error:
        fault = error.errors()[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    again = from_json(pack(read))["observation"]
    lost = [name for name, value in result.observation.items() if not same(value, again.get(name))]
    return f"{', '.join(lost)} did not survive" if lost else None


def _close_twice(spec: EnvSpec) -> Promise:
    def look(_stage: Stage) -> Finding:
        if spec.shared:
            return Finding.judged([], "an instance is its owner's to close")
        environment: Any = spec.make()
        calls = BlockingCalls()
        try:
            for _ in range(2):
                calls.settle(environment.close())
        except Exception as error:  # noqa: BLE001  # the author's code
            return broken(f"close() raised {type(error).__name__}: {error}")
        finally:
            calls.close()
        return Finding.judged([], "it can be closed twice")

    return Promise(
        "close_twice",
        "`close` may be called twice, and before any reset.",
        "Close only what is there: set attributes in `__init__`, and forget what was closed.",
        look,
    )
