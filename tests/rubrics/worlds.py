"""Environments that are rewarded by a rubric, in all the styles there are."""

from typing import Any, ClassVar

from openenv import Action, Environment, Observation
from openenv.rubrics import FlowRubric, RubricDict, WeightedSum
from tests.rubrics.scorers import BROKEN, Awaited, Episode, Fixed


class Try(Action):
    """What to be found, and whether that is the end."""

    way: str = "fine"
    end: bool = False


class Tried(Observation):
    """What was tried."""

    way: str = ""


class Ways(FlowRubric):
    """Finds what the action says: 0.5, or nothing in one of the ways to break."""

    def __init__(self) -> None:
        super().__init__()
        known = {name.replace(" ", "_"): make() for name, make in BROKEN.items()}
        self.ways = RubricDict({**known, "fine": Fixed(0.5), "later": Awaited(0.5)})

    def flow(self, action: Try, observation: Tried) -> Any:
        """The one child's score."""
        [score] = yield [self.ways[action.way](action, observation)]
        return score


WAYS = sorted(name.replace(" ", "_") for name in BROKEN)


class Peer(Environment[Try, Tried]):
    """As packages are written for the peer."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False

    def __init__(self) -> None:
        super().__init__(rubric=WeightedSum([Ways()], [1.0]))

    def reset(self, seed: int | None = None, **options: Any) -> Tried:
        """Begins."""
        self._reset_rubric()
        return Tried()

    def step(self, action: Try) -> Tried:
        """Tries."""
        observation = Tried(way=action.way, done=action.end, metadata={"own": 1})
        observation.reward = self._apply_rubric(action, observation)
        return observation


class PeerLenient(Peer):
    """Does with the number what washes a NaN off."""

    def step(self, action: Try) -> Tried:
        """Tries."""
        observation = super().step(action)
        observation.reward = max(0.0, observation.reward or 0.0)
        return observation


class PeerAwaiting(Environment[Try, Tried]):
    """The same, awaiting."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False

    def __init__(self) -> None:
        super().__init__(rubric=WeightedSum([Ways()], [1.0]))

    async def reset_async(self, seed: int | None = None, **options: Any) -> Tried:
        """Begins."""
        await self._reset_rubric_async()
        return Tried()

    async def step_async(self, action: Try) -> Tried:
        """Tries."""
        observation = Tried(way=action.way, done=action.end, metadata={"own": 1})
        observation.reward = await self._apply_rubric_async(action, observation)
        return observation


class Own(Peer):
    """In the style of our own."""

    SHARED: ClassVar[Tried] = Tried(metadata={"own": 1})

    def step(self, action: Try) -> Tried:
        """Tries, and gives an observation that others have, too."""
        if action.end:
            return self.rewarded(action, Tried(way=action.way, done=True, metadata={"own": 1}))
        self.SHARED.way = action.way
        return self.rewarded(action, self.SHARED)


class OwnInProcess(Own):
    """In a process of its own."""

    HOST = "process"


class OwnAwaiting(PeerAwaiting):
    """In our own style, awaiting."""

    async def step_async(self, action: Try) -> Tried:
        """Tries."""
        observation = Tried(way=action.way, done=action.end, metadata={"own": 1})
        return await self.rewarded_async(action, observation)


class OwnInline(Own):
    """Blocking steps on the event loop, which must not wait for a rubric."""

    HOST = "inline"


STYLES: list[Any] = [
    Peer,
    PeerLenient,
    PeerAwaiting,
    Own,
    OwnInProcess,
    OwnAwaiting,
    OwnInline,
]


class Delayed(Environment[Try, Tried]):
    """Is rewarded at the end; never resets its rubric itself."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__(rubric=Episode(gamma=0.5))

    def reset(self, seed: int | None = None, **options: Any) -> Tried:
        """Begins."""
        return Tried()

    def step(self, action: Try) -> Tried:
        """Tries."""
        return self.rewarded(action, Tried(way=action.way, done=action.end))
