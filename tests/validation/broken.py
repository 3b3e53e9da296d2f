"""A sound environment, and ones that break a single promise each."""

import itertools
import math
import os
import random
import threading
import time
from typing import Any, ClassVar
from uuid import uuid4

from pydantic import ConfigDict, Field

from openenv import Action, Environment, Observation, State
from openenv.protocol.errors import InvalidRequest

LAST = 4
"""Steps of an episode."""


class Push(Action):
    by: int = Field(ge=0, le=3)


class Seen(Observation):
    level: int = 0
    draw: float = 0.0
    note: str = ""


class Sound(Environment[Push, Seen, State]):
    """Draws a number from its seed, adds up pushes, and ends after a few steps."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.level = 0
        self.steps = 0
        self.random = random.Random()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.random = random.Random(seed)
        self.level = self.steps = 0
        return self.look()

    def step(self, action: Push) -> Seen:
        self.level += action.by
        self.steps += 1
        return self.look(reward=action.by / 3, done=self.steps >= LAST)

    def look(self, **fields: Any) -> Seen:
        return Seen(level=self.level, draw=self.random.random(), note=self.note(), **fields)

    def note(self) -> str:
        return ""


# ── episodes ──────────────────────────────────────────────────────────────────────────────────────


class RaisesAlways(Sound):
    def step(self, action: Push) -> Seen:
        raise ValueError("no move is legal")


class ReturnsNothing(Sound):
    def step(self, action: Push) -> Seen:
        super().step(action)
        return None  # type: ignore[return-value]  # the fault


class Misspells(Sound):
    def step(self, action: Push) -> Seen:
        return self.look(reward=action.bye)  # type: ignore[attr-defined]  # the fault


class ExitsSometimes(Sound):
    def step(self, action: Push) -> Seen:
        if action.by == 3:
            raise SystemExit(2)
        return super().step(action)


class SendsAnObjectSometimes(Sound):
    def look(self, **fields: Any) -> Seen:
        metadata = {"it": object()} if self.level else {}
        return super().look(**fields, metadata=metadata)


class TakesNothing(Sound):
    """Finds fault with every action as it would with one that breaks its schema."""

    def step(self, action: Push) -> Seen:
        raise InvalidRequest("no such move")


class RaisesSometimes(Sound):
    def step(self, action: Push) -> Seen:
        if action.by == 3:
            raise ValueError("not as hard as that")
        return super().step(action)


class ResetRaises(Sound):
    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        raise ValueError("there is no world")


# ── rewards ───────────────────────────────────────────────────────────────────────────────────────


class RewardIsNaN(Sound):
    def look(self, **fields: Any) -> Seen:
        return super().look(**fields | ({"reward": math.nan} if "reward" in fields else {}))


class RewardIsMissing(Sound):
    def look(self, **fields: Any) -> Seen:
        return super().look(**fields | {"reward": None})


class RewardIsTruth(Sound):
    def look(self, **fields: Any) -> Seen:
        return super().look(**fields | ({"reward": True} if "reward" in fields else {}))


class RewardIsLarge(Sound):
    def look(self, **fields: Any) -> Seen:
        return super().look(**fields | ({"reward": 100.0} if "reward" in fields else {}))


# ── observations and states ───────────────────────────────────────────────────────────────────────


class Unannounced(Seen):
    secret: int = 1


class ObservesWhatItDoesNotDeclare(Sound):
    def look(self, **fields: Any) -> Seen:
        return Unannounced(level=self.level, draw=self.random.random(), **fields)


class OwnState(Sound):
    """Keeps its state itself, and well."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.kept = State(episode_id=episode_id)
        return super().reset(seed, episode_id)

    def step(self, action: Push) -> Seen:
        self.kept.step_count += 1
        return super().step(action)

    @property
    def state(self) -> State:
        return self.kept


class ForgetsTheEpisode(OwnState):
    @property
    def state(self) -> State:
        return State(episode_id=str(uuid4()), step_count=self.kept.step_count)


class CountsNoSteps(OwnState):
    @property
    def state(self) -> State:
        return State(episode_id=self.kept.episode_id)


class StateOfAnotherKind(OwnState):
    @property
    def state(self) -> State:
        return State.model_construct(episode_id=self.kept.episode_id, step_count="many")


# ── order ─────────────────────────────────────────────────────────────────────────────────────────


class HasNoStateAtFirst(Sound):
    kept: State

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.kept = State(episode_id=episode_id)
        return super().reset(seed, episode_id)

    @property
    def state(self) -> State:
        self.kept.step_count = self.steps
        return self.kept


class BeginsAnewByItself(Sound):
    REQUIRES_RESET = False
    count = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.episode_id, self.count = episode_id, 0
        return super().reset(seed, episode_id)

    def step(self, action: Push) -> Seen:
        if self.count == LAST:
            self.reset(0, self.episode_id)
        self.count += 1
        return super().step(action)

    @property
    def state(self) -> State:
        return State(episode_id=getattr(self, "episode_id", None), step_count=self.count)


class GoesOnAfterTheEnd(Sound):
    REQUIRES_RESET = False

    def step(self, action: Push) -> Seen:
        seen = super().step(action)
        seen.done = self.steps == LAST
        return seen


class NeverRecovers(Sound):
    """Once it was stepped before a reset, no reset works."""

    REQUIRES_RESET = False
    began = False
    spoilt = False

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        if self.spoilt:
            raise RuntimeError("spoilt")
        self.began = True
        return super().reset(seed, episode_id)

    def step(self, action: Push) -> Seen:
        self.spoilt = self.spoilt or not self.began
        return super().step(action)


class LenientPush(Action):
    """Says that it takes no other fields, and takes them."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})

    by: int = Field(ge=0, le=3)


class TakesAnything(Environment[LenientPush, Seen, State]):
    def __init__(self) -> None:
        super().__init__()
        self.sound = Sound()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        return self.sound.reset(seed, episode_id)

    def step(self, action: LenientPush) -> Seen:
        return self.sound.step(Push(by=action.by))


# ── chance and memory ─────────────────────────────────────────────────────────────────────────────


class IgnoresTheSeed(Sound):
    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        return super().reset(None, episode_id)


class RemembersTheLastEpisode(Sound):
    resets = 0

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.resets += 1
        return super().reset(seed, episode_id)

    def note(self) -> str:
        return str(self.resets)


class HasAName(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.name = str(uuid4())

    def note(self) -> str:
        return self.name


class HasAProcess(Sound):
    def note(self) -> str:
        return str(os.getpid())


class SharesItsLevel(Sound):
    shared: ClassVar[dict[str, int]] = {}

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.shared["level"] = 0
        return super().reset(seed, episode_id)

    def step(self, action: Push) -> Seen:
        self.shared["level"] += action.by
        return super().step(action)

    def note(self) -> str:
        return str(self.shared["level"])


# ── what is left ──────────────────────────────────────────────────────────────────────────────────


class ClosesOnce(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.held: list[int] | None = []

    def close(self) -> None:
        assert self.held is not None, "closed already"
        self.held = None


class LeavesAThread(Sound):
    def __init__(self) -> None:
        super().__init__()
        threading.Thread(target=threading.Event().wait, daemon=True).start()


class LeavesAFile(Sound):
    left: ClassVar[list[Any]] = []

    def __init__(self) -> None:
        super().__init__()
        self.left.append(open(os.devnull))  # noqa: SIM115  # the fault


class LeavesMemory(Sound):
    left: ClassVar[list[bytes]] = []

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Seen:
        self.left.append(b"x" * (4 << 20))
        return super().reset(seed, episode_id)


class BlocksTheLoop(Sound):
    HOST = "inline"
    number = itertools.count()

    def step(self, action: Push) -> Seen:
        if next(self.number) == 2:
            time.sleep(1.5)
        return super().step(action)
