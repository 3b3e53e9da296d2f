"""Replay: a trajectory's actions, taken again, and the first place where something else came."""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from threading import Condition
from typing import Any, NamedTuple

from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.protocol.errors import Json, SessionCapacityError, SessionError
from openenv.rollout.made_up.fitting import shown
from openenv.rollout.trajectories.differences import parting
from openenv.rollout.trajectories.trajectory import Trajectory, seen

_TIMES = re.compile(
    r"(^|_)(time|times|timing|timings|timestamp|date|duration|elapsed|latency|seconds|uptime)(_|$)"
    r"|_(s|ms|us|ns|at)$"
)
"""Names in metadata whose values say when something was, or how long it took."""
SLOT_PATIENCE_S = 10.0
"""How long a server may take to free the slot of a session that has ended."""
_NOT_ANSWERED = ("action", "latency_ms")
_OF_LENGTH = ("step", "end")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a replay parts from its trajectory.

    Attributes:
        episode_id: of the trajectory.
        step: the step's number from 1; 0 is the reset.
        path: what differs, for example `observation.legal_actions.0` or `reward`; `step` where
            there is a step too few or too many, `error` where the server refuses one.
        expected: what the trajectory has there.
        got: what came.
        is_random: a second replay differs from the first one: the environment does not keep to the
            seed, or to nothing but the seed, and the trajectory may be as it was recorded.
    """

    episode_id: str
    step: int
    path: str
    expected: Any
    got: Any
    is_random: bool = False

    def __str__(self) -> str:
        place = "the reset" if self.step == 0 else f"step {self.step}"
        text = (
            f"{self.episode_id}, {place}: {self.path} was {shown(self.expected)}, "
            f"now {shown(self.got)}"
        )
        if self.is_random:
            text += (
                "; a second replay differs from the first, so the environment ignores its seed, or "
                "is random beside it: its episodes cannot be replayed"
            )
        return text


class Answer(NamedTuple):
    """What one call gives now.

    Attributes:
        said: what is compared of it.
        end: `terminated` or `truncated` if the episode ended with it.
    """

    said: Json
    end: str | None


def replay(
    trajectory: Trajectory, base_url: str, *, ignore: Collection[str] = ()
) -> Difference | None:
    """Takes a trajectory's actions again, in a session of its own.

    The reset is given the same seed, name and options. Compared are, exactly: observations,
    rewards, both kinds of end, and metadata, but for values in metadata that say when something
    was or how long it took, by their names (`…time…`, `duration`, `…_ms`, `…_at` and the like).
    Latencies are not compared, nor is the error that ended an episode; steps before it are.

    Args:
        trajectory: what was recorded.
        base_url: the address of a server of the same environment.
        ignore: paths that are not compared either, for example `metadata.request_id`.

    Returns:
        The first difference; `None` if there is none, or no reset to be replayed.

    Raises:
        ConnectFailed: the server does not answer.
        SessionCapacityError: it has no room for a session.
    """
    if trajectory.reset is None:
        return None
    answers: list[Answer] = []
    with closing(_answers(trajectory, base_url)) as coming:
        difference = _difference(trajectory, coming, answers, ignore)
    if difference is None or difference.path in _OF_LENGTH:
        return difference
    with closing(_answers(trajectory, base_url)) as coming:
        pairs = list(zip(answers, coming, strict=False))
    is_random = any(
        parting(_kept(one.said, ignore), _kept(other.said, ignore)) is not None
        for one, other in pairs
    )
    return replace(difference, is_random=is_random)


def replay_all(
    trajectories: Iterable[Trajectory],
    base_url: str,
    *,
    sessions: int = 8,
    ignore: Collection[str] = (),
) -> Iterator[tuple[Trajectory, Difference | None]]:
    """Replays trajectories, so many at the same time, and gives the outcomes in their order.

    Where the server has room for fewer, fewer are replayed at the same time.
    """
    coming, room = iter(trajectories), _Room()
    with ThreadPoolExecutor(sessions, "openenv-replay") as pool:

        def begin(trajectory: Trajectory) -> tuple[Trajectory, Future[Difference | None]]:
            call = partial(replay, trajectory, base_url, ignore=ignore)
            return trajectory, pool.submit(room.used, call)

        window = deque(map(begin, islice(coming, sessions)))
        try:
            while window:
                trajectory, outcome = window.popleft()
                yield trajectory, outcome.result()
                window.extend(map(begin, islice(coming, 1)))
        finally:
            for _, outcome in window:
                outcome.cancel()


class _Room:
    """A server's room, as replays find it: one that is refused waits for another to end."""

    def __init__(self) -> None:
        self._change = Condition()
        self._busy = 0
        self._freed_at = -math.inf

    def used(self, call: Callable[[], Difference | None]) -> Difference | None:
        """What a replay gives, as soon as there is room for it.

        Raises:
            SessionCapacityError: the server is full though no other replay is in it.
        """
        with self._taken():
            while True:
                try:
                    difference = call()
                except SessionCapacityError:
                    if not self._frees_soon():
                        raise
                else:
                    self._freed_at = time.monotonic()
                    return difference

    @contextmanager
    def _taken(self) -> Iterator[None]:
        with self._change:
            self._busy += 1
        try:
            yield
        finally:
            with self._change:
                self._busy -= 1
                self._change.notify_all()

    def _frees_soon(self) -> bool:
        """Whether another replay has to end, or has ended lately; waits a little for that."""
        with self._change:
            if self._busy <= 1 and time.monotonic() > self._freed_at + SLOT_PATIENCE_S:
                return False
            self._busy -= 1
            self._change.wait(0.5)
            self._busy += 1
            return True


def _difference(
    trajectory: Trajectory,
    coming: Iterable[Answer],
    answers: list[Answer],
    ignore: Collection[str],
) -> Difference | None:
    """The first difference; the answers so far are added to a list."""
    found = partial(Difference, episode_id=trajectory.episode_id)
    for number, answer in enumerate(coming):
        answers.append(answer)
        if "error" in answer.said:
            return found(step=number, path="error", expected=None, got=answer.said["error"])
        expected = _kept(_recorded(trajectory, number), ignore)
        if (place := parting(expected, _kept(answer.said, ignore))) is not None:
            return found(step=number, path=place.path, expected=place.one, got=place.other)
    number, ended = len(answers) - 1, answers[-1].end
    if number < len(trajectory.steps):
        surplus = trajectory.steps[number].action
        return found(step=number + 1, path="step", expected=surplus, got="the episode has ended")
    if ended is None and trajectory.end in ("terminated", "truncated"):
        return found(step=number + 1, path="step", expected=trajectory.end, got="it goes on")
    if ended is not None and trajectory.end != ended:
        return found(step=number, path="end", expected=trajectory.end, got=ended)
    return None


def _answers(trajectory: Trajectory, base_url: str) -> Generator[Answer, None, None]:
    """What the reset and the steps give now, until the episode ends or a step is refused."""
    with GenericEnvClient(base_url=base_url).sync() as client:
        result = client.reset(
            **trajectory.options, seed=trajectory.seed, episode_id=trajectory.episode_id
        )
        yield Answer(_begun(result), _end_of(result))
        for step in trajectory.steps:
            if result.done:
                return
            try:
                result = client.step(step.action)
            except SessionError as error:
                yield Answer({"error": f"{type(error).__name__}: {error.message}"}, None)
                return
            yield Answer(_outcome(result), _end_of(result))


def _begun(result: StepResult[Json]) -> Json:
    return {"observation": seen(result), "metadata": result.metadata or {}}


def _outcome(result: StepResult[Json]) -> Json:
    ends = {"terminated": result.terminated, "truncated": result.truncated}
    return {**_begun(result), "reward": result.reward, **ends}


def _end_of(result: StepResult[Json]) -> str | None:
    if not result.done:
        return None
    return "truncated" if result.truncated else "terminated"


def _recorded(trajectory: Trajectory, number: int) -> Json:
    """The reset of a trajectory, or a step, as `_begun` and `_outcome` have it."""
    part = trajectory.steps[number - 1] if number else trajectory.reset
    return {name: value for name, value in vars(part).items() if name not in _NOT_ANSWERED}


def _kept(value: Any, ignore: Collection[str], path: str = "") -> Any:
    """A value without what is not compared."""
    if isinstance(value, list):
        return [_kept(part, ignore, f"{path}.{index}") for index, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, part in value.items():
        inner = f"{path}.{name}".lstrip(".")
        is_time = inner.startswith("metadata.") and _TIMES.search(name)
        if inner not in ignore and not is_time:
            kept[name] = _kept(part, ignore, inner)
    return kept
