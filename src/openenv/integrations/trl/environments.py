"""environment_factory: a served environment as a class whose methods are its tools."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any, ClassVar, cast, get_args

from openenv.client.env_client import EnvClient
from openenv.client.generic import GenericEnvClient
from openenv.env.tool_models import Tool
from openenv.harness.rollouts.client_session import RewardOf
from openenv.harness.rollouts.served import Moves, ServedSessions
from openenv.integrations.trl.functions import method_of
from openenv.integrations.trl.seats import Seat, Terms, Text, close_all, introduction
from openenv.protocol.errors import ConfigurationError, InvalidRequest, Json

Client = type[EnvClient[Any, Any, Any]]


class ToolEnvironment:
    """One environment of a trainer's pool: a session of a server.

    Subclasses are made by `environment_factory`; their public methods are the tools. The session
    opens at the first reset, serves one episode after another, and is closed when the environment
    is dropped, by `close_all`, or at the interpreter's exit.
    """

    _terms: ClassVar[Terms]
    _seats: ClassVar[weakref.WeakSet[Seat]]

    def __init__(self) -> None:
        self._seat = Seat(self._terms)
        self._seats.add(self._seat)

    def reset(self, **row: Any) -> str | None:
        """Begins an episode.

        Args:
            **row: the dataset's columns, of which the environment is given the `seed`, and those
                that are named as `columns`.

        Returns:
            What the model reads behind its prompt.

        Raises:
            OpenEnvError: no episode could be begun, and none will.
        """
        text = self._seat.begin(row)
        return f"\n\n{text}" if text is not None and row.get("prompt") else text

    def get_reward(self) -> float | None:
        """The episode's reward; `None`, which TRL leaves out, where it is not known."""
        return self._seat.reward

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self._seat.done

    @property
    def error(self) -> Exception | None:
        """Why the episode has no reward, if something failed."""
        return self._seat.error

    @classmethod
    def close_all(cls) -> None:
        """Ends the sessions of all environments of this class."""
        close_all(list(cls._seats))

    def _call(self, name: str, arguments: Json) -> str:
        return self._seat.call(name, arguments)


def environment_factory(  # noqa: PLR0913  # each is a user's to set
    client: str | Client,
    *,
    base_url: str | None = None,
    tools: Moves | Iterable[str] = "auto",
    reset_text: Text | None = None,
    reward: RewardOf = "last",
    options: Mapping[str, Any] | None = None,
    columns: Iterable[str] = (),
    idle_reward: float | None = 0.0,
    patience_s: float = 60.0,
    name: str | None = None,
) -> type[ToolEnvironment]:
    """A class for `GRPOTrainer(environment_factory=…)`, made of what a server offers.

    Its public methods are the environment's tools; where it has none, one method `act` takes the
    fields of its actions. Each has types and a docstring, of which TRL makes the description that
    the model reads.

        Environment = environment_factory("http://localhost:8000", tools="actions")
        trainer = GRPOTrainer(model, args=…, train_dataset=…, environment_factory=Environment)

    Needs a running server: one session is opened to ask it, and closed.

    Args:
        client: the server's address; or a client class, whose own observations `reset_text` is
            given then, with `base_url`.
        base_url: the server's address, with a client class.
        tools: `"tools"`, `"actions"`, `"auto"` (tools where there are some), or the names of those
            tools that the model may call.
        reset_text: what the model reads of the first observation, behind its prompt; by default
            its `text`, or its fields as JSON. `None` of it for nothing.
        reward: what `get_reward` gives: the `"last"` step's reward, or the `"sum"` of all.
        options: what each reset is given.
        columns: names of dataset columns that are options of the reset; `seed` is given anyway.
        idle_reward: the reward of an episode in which the model did nothing; `None` leaves it out.
        patience_s: how long a reset waits for a server that is being started anew, in seconds.
        name: the class's name, under which TRL logs the reward; by default `Environment`.

    Raises:
        ConfigurationError: there is no such tool, or one cannot be a method.
        OpenEnvError: the server does not answer, or refuses.
    """
    client_class, url = served(client, base_url)
    moves, chosen = _moves(tools)
    sessions = ServedSessions(
        url,
        options=options,
        reward=reward,
        moves=moves,
        introduction=introduction(reset_text),
        client=client_class,
    )
    terms = Terms(sessions, frozenset(columns), idle_reward, patience_s)
    members: dict[str, Any] = {tool.name: method_of(tool) for tool in _offered(terms, chosen)}
    own = {"__doc__": f"An environment of {url}.", "_terms": terms, "_seats": weakref.WeakSet()}
    return type(name or "Environment", (ToolEnvironment,), {**members, **own})


def served(client: str | Client, base_url: str | None) -> tuple[Client, str]:
    """A client class and a server's address, by either way of naming them."""
    if isinstance(client, str):
        if base_url is not None:
            raise ConfigurationError("give the server's address once, or a client class with it")
        return GenericEnvClient, client
    if base_url is None:
        raise ConfigurationError(f"{client.__name__} needs the server's address: base_url=…")
    return client, base_url


def _moves(tools: Moves | Iterable[str]) -> tuple[Moves, frozenset[str] | None]:
    """How the model moves, and which tools it may call; `None` for all."""
    if not isinstance(tools, str):
        return "tools", frozenset(tools)
    if tools not in get_args(Moves):
        raise ConfigurationError(
            f"tools must be one of {', '.join(get_args(Moves))} or a list of names, got {tools!r}"
        )
    return cast("Moves", tools), None


def _offered(terms: Terms, chosen: frozenset[str] | None) -> list[Tool]:
    """The tools of a server that become methods.

    Raises:
        ConfigurationError: one is wanted that it does not have, or cannot be had.
    """
    try:
        with closing(terms.sessions.create(None)) as session:
            found = {tool.name: tool for tool in session.list_tools()}
    except InvalidRequest as error:
        raise ConfigurationError(
            f"the environment was asked for its tools, and answered {error}; if it has none, use "
            "tools='actions'"
        ) from error
    unknown = sorted((chosen or frozenset()).difference(found))
    if unknown:
        raise ConfigurationError(
            f"the environment has no tool called {', '.join(unknown)}; it has {', '.join(found)}"
        )
    wanted = [tool for name, tool in found.items() if chosen is None or name in chosen]
    if not wanted:
        raise ConfigurationError("the environment has no tool to call: use tools='actions'")
    taken = sorted(tool.name for tool in wanted if _is_taken(tool.name))
    if taken:
        raise ConfigurationError(
            f"a tool called {', '.join(taken)} cannot be a method of an environment of TRL's: name "
            f"those that the model is to have, for example tools={sorted(found)[:3]}"
        )
    return wanted


def _is_taken(name: str) -> bool:
    return hasattr(ToolEnvironment, name) or re.fullmatch(r"[A-Za-z]\w*", name) is None
