"""Games over the sessions of a pool, in waves: all sessions step together.

What a game is does not depend on when or where it is played. Its seed settles the cards, seed and
copy settle the policy's coin. So a game that was interrupted by a dead server is dealt again, and
is the same game.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import nn

from blackjack_env import BlackJackEnv, BlackJackObservation
from blackjack_env.rules import MOVES
from grpo_blackjack.policy import move_logprobs
from openenv import ConnectFailed, EnvPool, StepResult

BLIND = "you dealer act"
RETRY_S = 0.2
PATIENCE_S = 120.0


class Stopped(Exception):
    """The user has had enough."""


class Deal(NamedTuple):
    """Which game: its cards, and which of the games with these cards."""

    seed: int
    copy: int


class Decision(NamedTuple):
    """One move: what was seen, what was legal, how likely each move was, and the one made."""

    prompt: str
    legal: tuple[str, ...]
    chances: tuple[float, ...]
    move: str


@dataclass
class Game:
    """One game as it is played. `reward` stays `None` if none was given."""

    deal: Deal
    decisions: list[Decision] = field(default_factory=list)
    result: str | None = None
    reward: float | None = None
    coin: random.Random = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.coin = random.Random(f"coin {self.deal.seed} {self.deal.copy}")

    def decide(self, table: BlackJackObservation, prompt: str, chances: Sequence[float]) -> str:
        """Makes a move by chance."""
        move: str = self.coin.choices(MOVES, chances)[0]
        self.decisions.append(Decision(prompt, tuple(table.legal_actions), tuple(chances), move))
        return move


class Table:
    """Plays games with a policy.

    Args:
        url: the server.
        sessions: games at once.
        blind: take the cards out of the prompts.
        stop: set by whoever wants it to end.

    Attributes:
        interrupted: games that were cut off, and dealt again.
    """

    def __init__(self, url: str, sessions: int, blind: bool, stop: threading.Event) -> None:
        self._pool = EnvPool(url, sessions, BlackJackEnv, autoreset="disabled").sync()
        self._blind = blind
        self._stop = stop
        self._why: Exception | None = None
        self.interrupted = 0

    def close(self) -> None:
        """Ends the sessions."""
        self._pool.close()

    def play_games(self, policy: nn.Module, deals: Sequence[Deal]) -> list[Game]:
        """Plays every deal to its end, in whatever time the server needs to be there.

        Raises:
            ConnectionError: for two minutes not one game was finished.
            SessionCapacityError: the server holds fewer sessions.
            Stopped: it was asked to.
        """
        played: dict[Deal, Game] = {}
        deadline = time.monotonic() + PATIENCE_S
        while waiting := [deal for deal in deals if deal not in played]:
            wave = waiting[: len(self._pool)]
            finished = self._play_wave(policy, wave)
            played |= {game.deal: game for game in finished}
            if finished:
                deadline = time.monotonic() + PATIENCE_S
            if len(finished) < len(wave):
                self._wait(deadline)
        return [played[deal] for deal in deals]

    def _play_wave(self, policy: nn.Module, wave: Sequence[Deal]) -> list[Game]:
        """Plays a game in each slot; those that are interrupted are left out."""
        games = dict(enumerate(map(Game, wave)))
        try:
            batch = self._pool.reset([deal.seed for deal in wave], slots=list(games))
        except ConnectFailed as error:
            self._why = error
            return []
        finished: list[Game] = []
        running = list(games)
        while running:
            tables: dict[int, BlackJackObservation] = {}
            for slot, result, error in zip(running, batch.results, batch.errors, strict=True):
                if result is None:  # its episode is gone; the next reset of the slot begins anew
                    self._why = error
                    self.interrupted += bool(games[slot].decisions)
                elif result.done:
                    finished.append(_ended(games[slot], result))
                else:
                    tables[slot] = result.observation
            running = list(tables)
            if running:
                moves = self._decide(policy, games, tables)
                batch = self._pool.step(moves, slots=running)
        return finished

    def _decide(
        self, policy: nn.Module, games: dict[int, Game], tables: dict[int, BlackJackObservation]
    ) -> list[str]:
        """A move for each game that runs, by one forward pass."""
        prompts = [format_prompt(table.text, self._blind) for table in tables.values()]
        legal = [table.legal_actions for table in tables.values()]
        with torch.no_grad():
            chances = move_logprobs(policy, prompts, legal).exp().tolist()
        return [
            games[slot].decide(table, prompt, row)
            for (slot, table), prompt, row in zip(tables.items(), prompts, chances, strict=True)
        ]

    def _wait(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise ConnectionError(
                f"no game was finished for {PATIENCE_S:.0f} s at {self._pool.urls[0]}: "
                f"{self._why}; put it right, and train on with --resume"
            )
        if self._stop.wait(RETRY_S):
            raise Stopped


def format_prompt(text: str, blind: bool) -> str:
    """What the policy is shown of an observation's text: all of it, or none of the cards."""
    return BLIND if blind else text


def _ended(game: Game, result: StepResult[BlackJackObservation]) -> Game:
    game.result = result.observation.result
    game.reward = None if result.reward is None else float(result.reward)
    return game
