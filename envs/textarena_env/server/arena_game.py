"""A game of TextArena."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from difflib import get_close_matches
from textwrap import shorten
from typing import Any

from openenv import errors, needs
from textarena_env.models import GAME_ID, TextArenaMessage
from textarena_env.server import nltk_words
from textarena_env.server.bound import TooLong
from textarena_env.server.game import Answer
from textarena_env.server.options import TextArenaOptions
from textarena_env.server.streams import Streams

BEGIN_S, MOVE_S = 60.0, 10.0
"""How long a game may take to begin, which may import much, and to take a move."""
LONGEST_MOVE = 4000
"""Characters. The patterns that games look for may take the square of it, and stop all else."""
LONGEST_REASON = 300


class ArenaGame:
    """A game that TextArena plays, with the messages that each player has seen.

    TextArena's own wrappers, which write these messages as one text, stay aside when looking; those
    that rewrite what is said stay in place.
    """

    def __init__(self, options: TextArenaOptions, seed: int) -> None:
        """Begins it.

        Raises:
            InvalidRequest: there is no such game, or it cannot begin like that.
            MissingPackage: TextArena is not installed.
        """
        textarena = _textarena()
        _check_id(options.env_id, textarena.envs.registration.ENV_REGISTRY)
        self._options = options
        self._streams = Streams(seed)
        self._seen: dict[int, list[TextArenaMessage]] = {}
        self._stuck = False
        if options.download_nltk:
            nltk_words.fetch()
        words = nullcontext() if options.download_nltk else nltk_words.left_alone()
        try:
            with self._streams.borrowed(BEGIN_S), words:
                self._env = textarena.make(options.env_id, **options.env_kwargs)
                self._env.reset(num_players=options.num_players, seed=seed)
            self._innermost = _innermost(self._env, textarena.Wrapper)
            self._look()
        except Exception as error:
            raise errors.InvalidRequest(
                f"TextArena cannot begin {options.env_id} with {options.num_players} player(s) and "
                f"{options.env_kwargs}: {_reason(error, options)}"
            ) from error

    @property
    def _state(self) -> Any:
        return self._innermost.state

    @property
    def current_player(self) -> int:
        """Who speaks next."""
        return int(self._state.current_player_id)

    @property
    def turn(self) -> int:
        """Turns that were taken."""
        return int(self._state.turn)

    @property
    def over(self) -> bool:
        """Whether it has ended, or does not go on."""
        return self._stuck or bool(self._state.done)

    @property
    def messages(self) -> list[TextArenaMessage]:
        """Everything that the current player has seen."""
        return list(self._seen.get(self.current_player, []))

    @property
    def open_state(self) -> dict[str, Any]:
        """Nothing: what is open about a game and what is secret, TextArena does not tell."""
        return {}

    def say(self, message: str) -> Answer:
        """Lets the current player say something. A game that fails at it is told as an error."""
        if len(message) > LONGEST_MOVE:
            why = f"the message has {len(message)} characters; {LONGEST_MOVE} are taken at most"
            return Answer(error=why, moved=False)
        player, known = self.current_player, len(self.messages)
        try:
            with self._streams.borrowed(MOVE_S):
                _, told = self._env.step(action=message)
            self._look()
        except TooLong:
            self._stuck = True
            return Answer(error="the game did not answer in time; it is over")
        except Exception as error:  # noqa: BLE001  # a game's own faults, of a hundred games
            why = f"the game failed at that: {_reason(error, self._options)}"
            return Answer(error=why, moved=False)
        said = self._seen.get(player, [])[known:]
        return Answer(
            reward=_number((self._state.rewards or {}).get(player)) if self.over else 0.0,
            error=next((seen.content for seen in said if _is_refusal(seen)), self._lapse(player)),
            details=_plain({**(told or {}), **self._ending()}),
        )

    def _lapse(self, player: int) -> str | None:
        """Why a player's last move ended the game, if it was a wrong one."""
        ending = (self._state.game_info or {}).get(player, {}) if self.over else {}
        return str(ending.get("reason")) if ending.get("invalid_move") else None

    def _ending(self) -> dict[str, Any]:
        """What is told once a game is over: everybody's rewards, and why."""
        if not self.over:
            return {}
        return {"rewards": self._state.rewards, "game_info": self._state.game_info}

    def _look(self) -> None:
        """Takes down what the current player is shown."""
        with self._streams.borrowed(MOVE_S):
            player, shown = self._innermost.get_observation()
        self._seen.setdefault(int(player), []).extend(map(_message, shown))


def _innermost(env: Any, wrapper: Any) -> Any:
    while isinstance(env, wrapper):
        env = env.env
    return env


def _number(reward: Any) -> float:
    """A reward; 0 for what is no number, which a few games pay."""
    number = isinstance(reward, int | float) and math.isfinite(reward)
    return float(reward) if number else 0.0


def _message(shown: tuple[Any, Any, Any]) -> TextArenaMessage:
    """A message as TextArena has it; a few games mix up its parts."""
    sender, content, category = shown
    return TextArenaMessage(
        sender_id=sender if isinstance(sender, int) else GAME_ID,
        content=str(content),
        category=str(getattr(category, "name", "GAME_MESSAGE")),
    )


def _textarena() -> Any:
    with needs("openenv-textarena-env[server]"):
        import textarena  # type: ignore[import-not-found, import-untyped, unused-ignore]
    return textarena


def _check_id(env_id: str, registered: dict[str, Any]) -> None:
    if env_id not in registered:
        spelled = {name.lower(): name for name in registered}
        close = get_close_matches(env_id.lower(), spelled, 3) or ["wordle-v0"]
        names = ", ".join(spelled[name] for name in close)
        raise errors.InvalidRequest(f"no game {env_id!r}; there is {names}")


def _reason(error: Exception, options: TextArenaOptions) -> str:
    """Why a game failed, in a line."""
    if nltk_words.missing(error):
        return nltk_words.advice(options)
    return f"{type(error).__name__}: {shorten(str(error), LONGEST_REASON, placeholder=' …')}"


def _is_refusal(message: TextArenaMessage) -> bool:
    return message.category == "GAME_ADMIN" and "invalid move" in message.content.lower()


def _plain(details: dict[str, Any]) -> dict[str, Any]:
    """What a game tells, as JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(details, default=str))
    return plain
