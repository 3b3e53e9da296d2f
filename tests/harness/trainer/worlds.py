"""A number to guess, by steps or by tools, and models that guess as they are told."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from openenv import Action, Environment, Observation
from openenv.client.generic import GenericEnvClient
from openenv.client.results import StepResult
from openenv.env.tool_models import Tool
from openenv.env.tools import tool
from openenv.harness import (
    Message,
    ModelStepResult,
    ResourceSessionFactory,
    StepEnvSessionAdapter,
    ToolSessionAdapter,
)
from openenv.llm.responses import LLMResponse, ToolCall

HANGING, RELEASED = threading.Event(), threading.Event()
"""A step hangs; it may go on."""
HANGS, BREAKS, UNSCORED, NOT_A_NUMBER = 99, 98, 97, 96


class Guess(Action):
    n: int


class Hint(Observation):
    hint: str = ""


class Game(Environment[Guess, Hint]):
    """Ends with the number that is the seed's last digit."""

    def reset(self, seed: int | None = None, **options: Any) -> Hint:
        self._number = (seed or 0) % 10
        return Hint(hint="guess")

    def step(self, action: Guess) -> Hint:
        if action.n == HANGS:
            HANGING.set()
            RELEASED.wait(30)
        if action.n == BREAKS:
            raise RuntimeError("a step that breaks")
        if action.n == UNSCORED:
            return Hint(done=True, metadata={"reward_error": "the judge is asleep"})
        if action.n == NOT_A_NUMBER:
            return Hint(done=True, reward=float("nan"))
        found = action.n == self._number
        hint = "found" if found else "lower" if action.n > self._number else "higher"
        return Hint(hint=hint, reward=float(found), done=found)

    @tool
    def twice(self, n: int) -> int:
        """Twice a number."""
        return 2 * n

    @tool
    def fail(self) -> int:
        """Raises."""
        raise RuntimeError("a tool that breaks")

    @tool
    def guess(self, n: int) -> Hint:
        """Guesses the number."""
        return self.step(Guess(n=n))


GUESS = Tool(
    name="guess",
    description="Guesses the number.",
    input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)


def stepping(url: str, **options: Any) -> StepEnvSessionAdapter:
    """A session by steps."""
    given: dict[str, Any] = {
        "tool_specs": [GUESS],
        "action_builder": lambda name, arguments: Guess(n=arguments["n"]),
        "initial_messages_builder": told,
    }
    return StepEnvSessionAdapter(GenericEnvClient(base_url=url), **{**given, **options})


def told(first: StepResult[Any], task: Any) -> list[Message]:
    return [{"role": "user", "content": f"{task}: {first.observation['hint']}"}]


class Stepping(ResourceSessionFactory[StepEnvSessionAdapter]):
    """Makes sessions by steps; pickles."""

    def __init__(self, url: str) -> None:
        self.url = url

    def create(
        self, task: Any, seed: int | None = None, episode_id: str | None = None
    ) -> StepEnvSessionAdapter:
        return stepping(self.url, task=task, seed=seed, episode_id=episode_id)


class Calling(ResourceSessionFactory[ToolSessionAdapter]):
    """Makes sessions by tools; pickles."""

    def __init__(self, url: str) -> None:
        self.url = url

    def create(
        self, task: Any, seed: int | None = None, episode_id: str | None = None
    ) -> ToolSessionAdapter:
        client = GenericEnvClient(base_url=self.url)
        return ToolSessionAdapter(client, task=task, seed=seed, episode_id=episode_id)


Turn = Sequence[tuple[str, Any]]


def turn(
    *calls: tuple[str, Any], tokens: tuple[list[int], list[int]] = ([], [])
) -> ModelStepResult:
    """A turn of a model that makes calls."""
    made = [ToolCall(f"call-{number}", *call) for number, call in enumerate(calls)]
    prompt, sampled = tokens
    return ModelStepResult(LLMResponse("", made), prompt, sampled, [-0.5] * len(sampled))


class Script:
    """A model that makes the calls of each turn, then no more."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = iter(turns)
        self.asked: list[tuple[list[Message], list[Tool], dict[str, Any]]] = []

    def __call__(
        self, messages: list[Message], tools: list[Tool], sampling: dict[str, Any]
    ) -> ModelStepResult:
        self.asked.append((messages, tools, sampling))
        return turn(*next(self._turns, ()))


def guesses(*numbers: int) -> Script:
    """A model that guesses one number a turn."""
    return Script(*[[("guess", {"n": number})] for number in numbers])


def counting(
    messages: list[Message], tools: list[Tool], sampling: dict[str, Any]
) -> ModelStepResult:
    """A model that guesses 0, 1, 2 and so on."""
    return turn(("guess", {"n": sum(m["role"] == "tool" for m in messages)}))


def answers(messages: Sequence[Message]) -> list[Any]:
    """What the model was told of its calls."""
    return [json.loads(m["content"]) for m in messages if m["role"] == "tool"]


def taking(*turns: Callable[[], Any]) -> Callable[..., Any]:
    """A model whose turns are whatever each function does."""
    left = iter(turns)

    def step(messages: list[Message], tools: list[Tool], sampling: Any) -> Any:
        return next(left)()

    return step
