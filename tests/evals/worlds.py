"""Environments to be evaluated in, and models that play them."""

import os
from collections.abc import Callable
from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

from openenv import Action, Environment, InvalidRequest, Observation, State
from openenv.env.tool_models import CallToolObservation, Tool
from openenv.env.tools import tool
from tests.serving import Served

Move = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


class Say(Action):
    """What is said."""

    word: str


class Heard(Observation):
    """What is heard."""

    heard: str = ""


class Parrot(Environment[Say, Heard, State]):
    """Repeats words, some of which do something."""

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> Heard:
        self._seed, self._state = seed or 0, State(episode_id=episode_id)
        is_over = bool(options.get("over"))
        return Heard(heard=f"seed {seed}, {sorted(options.items())}", done=is_over)

    def step(self, action: Say, timeout_s: float | None = None, **kwargs: Any) -> Heard:
        self._state.step_count += 1
        match action.word:
            case "refuse":
                raise InvalidRequest("say something else")
            case "raise":
                raise RuntimeError("the parrot is out of order")
            case "exit":
                os._exit(3)
            case "unjudged":
                why = {"reward_error": "the judge was not there"}
                return Heard(heard="?", done=True, metadata=why)
            case "nothing":
                return Heard(heard="nothing", done=True)
            case "cut":
                return Heard(heard="cut", done=True, truncated=True, reward=0.25)
        return Heard(heard=action.word, reward=2.0, done=action.word == "bye")

    @property
    def state(self) -> State:
        return self._state


class Sums(Parrot):
    """The same with tools."""

    @tool
    def add(self, a: int, b: int = 2) -> int:
        """Adds two numbers.

        Args:
            a: one number.
        """
        return a + b

    @tool
    def guess(self, number: int) -> Heard:
        """Ends the episode, with a reward for the right number."""
        right = number == self._seed
        return Heard(heard="right" if right else "wrong", reward=float(right), done=True)

    @tool
    def fail(self) -> int:
        """Fails."""
        raise ValueError("no such luck")


class Foreign(Parrot):
    """The same with a tool that answers as those of MCP's servers, without data."""

    def list_tools(self) -> list[Tool]:
        schema = {"type": "object", "properties": {"away": {"type": "boolean"}}}
        return [Tool(name="look", description="Looks.", input_schema=schema)]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> CallToolObservation:
        content = [{"type": "text", "text": "a bird"}]
        result = {"content": content, "data": None, "is_error": bool(arguments)}
        return CallToolObservation(tool_name=name, result=result)


def address(server: Served) -> str:
    return f"http://127.0.0.1:{server.port}"


def player(policy: Callable[[list[ChatMessage], list[str]], Move | list[Move] | str]) -> Model:
    """A model that does what a function of the conversation and the tools' names says."""

    def answer(messages: list[ChatMessage], tools: list[Any], *_: Any) -> ModelOutput:
        said = policy(messages, [each.name for each in tools])
        output = ModelOutput.from_content("mockllm", said if isinstance(said, str) else "")
        moves = [said] if isinstance(said, tuple) else said if isinstance(said, list) else []
        output.message.tool_calls = [
            ToolCall(id=f"{len(messages)}-{number}", function=name, arguments=arguments)
            for number, (name, arguments) in enumerate(moves)
        ]
        output.usage = ModelUsage()  # else it is counted with tables from the internet
        return output

    return get_model("mockllm/model", memoize=False, custom_outputs=answer)


def saying(*words: str) -> Model:
    """A model that says words to a parrot, one after another, and then nothing more."""
    return doing(*(("act", {"word": word}) for word in words))


def doing(*moves: Move) -> Model:
    """A model that calls tools, one after another, and then says that it has finished."""

    def policy(messages: list[ChatMessage], tools: list[str]) -> Move | str:
        turn = sum(message.role == "assistant" for message in messages)
        return moves[turn] if turn < len(moves) else "I have finished."

    return player(policy)
