"""Trajectories: what was done to an environment, and what it answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from openenv.client.results import StepResult
from openenv.protocol.errors import EnvironmentFailed, InvalidRequest, ResetRequired, SessionError
from openenv.rollout.made_up.calls import Player
from openenv.rollout.made_up.fitting import Json, shown
from openenv.rollout.trajectories.differences import parting

SEED = 7
EPISODE_ID = "openenv-check"
OTHER_SEED = 8


@dataclass(frozen=True)
class Plan:
    """What is done to an environment to see what it does.

    Attributes:
        actions: in this order; a step that ends the episode is followed by a reset.
        seed: of the first reset; each further one takes the next seed.
        episode_id: of every reset.
        options: further keywords of every reset.
        generated: the actions were made up from the schema, and may mean nothing.
    """

    actions: Sequence[Json]
    seed: int = SEED
    episode_id: str = EPISODE_ID
    options: Json = field(default_factory=dict)
    generated: bool = False

    def reset(self, number: int = 0) -> Json:
        """The keywords of the reset of that number."""
        return {"seed": self.seed + number, "episode_id": self.episode_id, **self.options}


@dataclass(frozen=True)
class Turn:
    """One call and its answer.

    Attributes:
        action: what was done; `None` for a reset.
        steps: how many steps its episode has had with it.
        result: what was answered; `None` if it was refused.
        refusal: the error that was answered instead.
        state: what `state()` gave afterwards.
    """

    action: Json | None
    steps: int
    result: StepResult[Json] | None = None
    refusal: SessionError | None = None
    state: Json | None = None

    @property
    def name(self) -> str:
        """The call, for people."""
        return "reset" if self.action is None else f"step {self.steps} {shown(self.action)}"

    @property
    def observation(self) -> Json:
        """All fields of the observation, as its model has them."""
        if self.result is None:
            return {}
        ended = {"done": self.result.done, "reward": self.result.reward}
        return {**self.result.observation, **ended}

    @property
    def outcome(self) -> Json:
        """What has to be the same when all is done again: everything but metadata."""
        if self.refusal is not None:
            return {"refused": self.refusal.code}
        seen = {name: value for name, value in self.observation.items() if name != "metadata"}
        return {**seen, "truncated": self.result is not None and self.result.truncated}


Trajectory = list[Turn]


def play(client: Player, plan: Plan, *, look: bool = False) -> Iterator[Turn]:
    """Does what a plan says, a turn at a time.

    A step that is refused (an action that the environment finds wrong, say) is a turn like others.

    Args:
        client: of a session of its own.
        plan: what to do.
        look: whether to ask for the state after every call.

    Raises:
        SessionError: a reset was refused, or the session has ended.
    """
    resets = steps = 0
    yield _reset(client, plan, resets, look=look)
    for action in plan.actions:
        turn = _step(client, action, steps + 1, look=look)
        yield turn
        steps += turn.refusal is None
        if turn.result is not None and turn.result.done:
            resets, steps = resets + 1, 0
            yield _reset(client, plan, resets, look=look)


def _reset(client: Player, plan: Plan, number: int, *, look: bool) -> Turn:
    result = client.reset(**plan.reset(number))
    return Turn(None, 0, result, state=client.state() if look else None)


def _step(client: Player, action: Json, steps: int, *, look: bool) -> Turn:
    try:
        result = client.step(action)
    except ResetRequired:
        raise
    except (EnvironmentFailed, InvalidRequest) as refusal:
        return Turn(action, steps, refusal=refusal)
    return Turn(action, steps, result, state=client.state() if look else None)


def difference(first: Trajectory, second: Trajectory, reward_tolerance: float = 0.0) -> str | None:
    """Where two trajectories part; `None` if they are the same.

    Args:
        first: what was answered.
        second: what was answered when the same was done again.
        reward_tolerance: by how much rewards may differ.
    """
    for one, other in zip(first, second, strict=False):
        seen, again = one.outcome, other.outcome
        if _are_close(seen.get("reward"), again.get("reward"), reward_tolerance):
            again = {**again, "reward": seen["reward"]}
        if (place := parting(seen, again)) is not None:
            was, then = shown(place.one), shown(place.other)
            return f"{one.name}: {place.path} was {was}, then {then}"
    if len(first) != len(second):
        return f"one had {len(first)} calls, the other {len(second)}"
    return None


def _are_close(one: Any, other: Any, tolerance: float) -> bool:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers and abs(one - other) <= tolerance
