"""Rubric: what an action and what followed it are worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from openenv._flow import Flow
from openenv.rubrics.evaluation import Evaluation, Limited
from openenv.rubrics.score import Score
from openenv.rubrics.settling import Effect, settle

Hook = Callable[["Rubric", Any, Any, Score], object]
"""Called with the rubric, the action, the observation and the score; may be async."""

CHILDREN = "_rubric_children"
"""The attribute that holds a rubric's children."""

PreHook = Callable[["Rubric", Any, Any], object]
"""Called with the rubric, the action and the observation; may be async."""


class Rubric(ABC):
    """Scores an action and the observation that followed.

    Write `forward`, as `def` or `async def`. A rubric that is assigned to an attribute becomes a
    child of that name, also before or without `super().__init__()`.

    Called, it gives a `Score`, which is a float; or a coroutine that does, if it or a child of its
    own is async. A call does not raise what goes wrong in it: whatever `forward` raises, and
    whatever it returns that is no finite number, is a score that is not valid; and so is the score
    of every rubric that called it.

    Attributes:
        timeout_s: seconds within which what an async `forward` awaits must come; `None` is for
            ever. Nothing cuts a blocking `forward` short: the session's `step_timeout` ends the
            step that it is in.
        last_score: what it gave last; `None` before its first call.
        EXPLAINED: names of attributes that `Score.explained` shows.
    """

    timeout_s: float | None = 300.0
    last_score: Score | None = None
    EXPLAINED: ClassVar[tuple[str, ...]] = ()

    _forward_hooks: tuple[Hook, ...] = ()
    _forward_pre_hooks: tuple[PreHook, ...] = ()

    @abstractmethod
    def forward(self, action: Any, observation: Any) -> Any:
        """The score: a finite number, or something to await for one."""

    def __call__(self, action: Any, observation: Any) -> Any:
        """The score, or a coroutine that gives it."""
        evaluation = Evaluation(self)
        if self._forward_hooks or self._forward_pre_hooks:
            return settle(self._hooked(evaluation, action, observation))
        found = evaluation.begin(action, observation)
        if isinstance(found, Score):
            self.__dict__["last_score"] = found  # it is no child, and this is the shortest way
            return found
        return settle(self._awaited(evaluation, found))

    def _hooked(self, evaluation: Evaluation, action: Any, observation: Any) -> Flow[Effect, Score]:
        score: Score | Limited
        try:
            for before in self._forward_pre_hooks:
                yield [before(self, action, observation)]
        except Exception as error:  # noqa: BLE001  # it is why there is no score
            score = evaluation.failed(error)
        else:
            score = evaluation.begin(action, observation)
        score = yield from self._awaited(evaluation, score)
        try:
            for hook in self._forward_hooks:
                yield [hook(self, action, observation, score)]
        except Exception as error:  # noqa: BLE001  # it is why there is no score
            score = self.last_score = evaluation.failed(error)
        return score

    def _awaited(self, evaluation: Evaluation, score: Score | Limited) -> Flow[Effect, Score]:
        if isinstance(score, Limited):
            try:
                [result] = yield [score]
            except Exception as error:  # noqa: BLE001  # it is why there is no score
                score = evaluation.failed(error)
            else:
                score = evaluation.given(result)
        self.last_score = score
        return score

    def register_forward_hook(self, hook: Hook) -> None:
        """Has a hook called after each call, also after one without a score.

        If it raises, the call has no score either.
        """
        self._forward_hooks = (*self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: PreHook) -> None:
        """Has a hook called before each call. If it raises, there is no score."""
        self._forward_pre_hooks = (*self._forward_pre_hooks, hook)

    def children(self) -> Iterator[Rubric]:
        """The rubrics it is made of."""
        return iter(list(self._registered().values()))

    def named_children(self) -> Iterator[tuple[str, Rubric]]:
        """The same, with their names."""
        return iter(list(self._registered().items()))

    def rubrics(self) -> Iterator[Rubric]:
        """All rubrics below it, each before its own."""
        return (rubric for _, rubric in self.named_rubrics())

    def named_rubrics(self, prefix: str = "") -> Iterator[tuple[str, Rubric]]:
        """The same, with their dotted paths.

        Args:
            prefix: what all paths begin with.
        """
        for name, child in self.named_children():
            path = f"{prefix}.{name}" if prefix else name
            yield path, child
            yield from child.named_rubrics(path)

    def get_rubric(self, path: str) -> Rubric:
        """The rubric at a dotted path, such as `"code.syntax"`.

        Raises:
            KeyError: there is none.
        """
        paths = dict(self.named_rubrics())
        if path not in paths:
            raise KeyError(
                f"Rubric path not found: {path}; there are: {', '.join(paths) or 'none'}"
            )
        return paths[path]

    def reset(self) -> None:
        """Forgets the episode. An override calls `super().reset()` for the children."""
        for child in self.children():
            child.reset()

    async def reset_async(self) -> None:
        """The same, for rubrics that await: then those below it that override this are awaited."""
        self.reset()
        for rubric in self.rubrics():
            if awaits_reset(rubric):
                await rubric.reset_async()

    def state_dict(self) -> dict[str, Any]:
        """What it takes to set a rubric up like this one; those below it by their dotted paths."""
        return {
            f"{name}.{key}": value
            for name, child in self.named_children()
            for key, value in child.state_dict().items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Sets it and those below it up as `state_dict` says; keys of nobody are left out."""
        for name, child in self.named_children():
            prefix = f"{name}."
            child.load_state_dict(
                {key.removeprefix(prefix): state[key] for key in state if key.startswith(prefix)}
            )

    def __setattr__(self, name: str, value: object) -> None:
        """Sets an attribute; a rubric becomes a child, and one that was there before is none more.

        Raises:
            ValueError: the name is one of `Rubric`'s own, or the child holds this rubric.
        """
        if isinstance(value, Rubric):
            if name in _OWN:
                raise ValueError(f"a rubric cannot have a child called {name!r}: Rubric has that")
            self._register(name, value)
        else:
            self._registered().pop(name, None)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Deletes an attribute; a rubric is no child more."""
        super().__delattr__(name)
        self._registered().pop(name, None)

    def _title(self) -> str:
        """What it is called where it has no other name."""
        return type(self).__name__

    def _registered(self) -> dict[str, Rubric]:
        found: dict[str, Rubric] = self.__dict__.setdefault(
            CHILDREN, {}
        )  # before any __init__, too
        return found

    def _register(self, name: str, rubric: Rubric) -> None:
        """Makes a rubric the child of that name, in the place of another.

        Raises:
            ValueError: it holds this rubric, or is it.
        """
        if any(held is self for held in (rubric, *rubric.rubrics())):
            raise ValueError(f"a rubric cannot hold itself, as child {name!r} would have it do")
        self._registered()[name] = rubric


_OWN = frozenset(dir(Rubric))


class FlowRubric(Rubric):
    """A rubric of others, written once for blocking and async ones.

    Write `flow`, a generator that yields lists of what rubrics gave when it called them, is sent
    their scores, and returns its own.

    Attributes:
        PARALLEL: how many async results of one list are awaited at a time.
    """

    timeout_s = None
    PARALLEL: ClassVar[int] = 16

    @abstractmethod
    def flow(self, action: Any, observation: Any) -> Flow[Effect, float]:
        """The score, by way of others' scores."""

    def forward(self, action: Any, observation: Any) -> Any:
        """The flow's result, or a coroutine that gives it once an async rubric is among them."""
        return settle(self.flow(action, observation), self.PARALLEL)


def awaits_reset(rubric: Rubric) -> bool:
    """Whether a rubric has a `reset_async` of its own."""
    return type(rubric).reset_async is not Rubric.reset_async
