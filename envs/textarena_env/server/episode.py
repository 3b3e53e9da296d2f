"""One game, from its prompt to its end."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from textarena_env.models import (
    GAME_ID,
    TextArenaAction,
    TextArenaMessage,
    TextArenaObservation,
    TextArenaState,
)
from textarena_env.rewards import RewardProvider, build_reward_providers
from textarena_env.server.arena_game import ArenaGame
from textarena_env.server.game import TextGame
from textarena_env.server.options import TextArenaOptions
from textarena_env.server.wordle_game import WordleGame

MOST_REFUSED = 100
"""Messages of an episode that the game may refuse, before it is truncated."""


class Episode:
    """A game with its signals and its state.

    Attributes:
        options: what it was told.
        state: where it stands.
    """

    def __init__(self, options: TextArenaOptions, seed: int, episode_id: str) -> None:
        """Begins a game.

        Raises:
            InvalidRequest: there is no such game, or it cannot begin like that.
        """
        self.options = options
        self._game: TextGame = (WordleGame if options.builtin else ArenaGame)(options, seed)
        self._providers: list[RewardProvider] = build_reward_providers(options.env_id)
        self.state = TextArenaState(
            episode_id=episode_id,
            env_id=options.env_id,
            num_players=options.num_players,
            max_turns=options.max_turns,
            seed=seed,
        )
        self._refused = 0
        self._note()

    @property
    def over(self) -> bool:
        """Whether the game has ended, or its turns or its patience are used up."""
        return self._game.over or self._truncated

    @property
    def _truncated(self) -> bool:
        most = self.options.max_turns
        spent = most is not None and self._game.turn + self._refused >= most
        return (spent or self._refused >= MOST_REFUSED) and not self._game.over

    def step(self, action: TextArenaAction) -> TextArenaObservation:
        """Says something, and sees what follows."""
        turn = self._game.turn
        answer = self._game.say(action.message)
        self._refused += bool(answer.error) and self._game.turn == turn
        self.state.step_count += 1
        fault = {"error": answer.error} if answer.error else {}
        signals = self._signals(action, self.seen(answer.reward, **fault))
        told = {"reward_signals": signals} if signals else {}
        if answer.moved:
            self.state.last_reward = answer.reward
            self.state.last_info = {**answer.details, **told}
        self._note()
        return self.seen(answer.reward, **told, **fault)

    def seen(self, reward: float, **metadata: Any) -> TextArenaObservation:
        """The game as its current player sees it."""
        messages = self._game.messages
        player = self._game.current_player
        refused = [f"Refused: {' '.join(metadata['error'].split())}"] if "error" in metadata else []
        return TextArenaObservation(
            done=self.over,
            truncated=self._truncated,
            reward=reward,
            metadata={"seed": self.state.seed, **deepcopy(metadata)},
            prompt=next((told.content for told in messages if told.category == "PROMPT"), ""),
            messages=[told.model_copy() for told in messages],
            current_player_id=player,
            legal_players=[] if self.over else [player],
            info=deepcopy(self.state.last_info),
            text="\n".join([*refused, *map(_line, messages)]),
        )

    def _signals(
        self, action: TextArenaAction, observation: TextArenaObservation
    ) -> dict[str, float]:
        signals = {}
        for provider in self._providers:
            signals.update(provider.compute(action=action, observation=observation))
        return signals

    def _note(self) -> None:
        self.state.turn = self._game.turn
        self.state.raw_state = {
            "done": self.over,
            "current_player_id": self._game.current_player,
            **self._game.open_state,
        }


def _line(message: TextArenaMessage) -> str:
    if message.category == "PROMPT":
        return message.content
    who = "GAME" if message.sender_id == GAME_ID else f"Player {message.sender_id}"
    return f"[{who}] {message.content}"
