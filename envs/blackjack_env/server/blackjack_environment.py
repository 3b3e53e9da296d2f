"""The BlackJack table that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from blackjack_env.game import Game
from blackjack_env.models import BlackJackAction, BlackJackObservation, BlackJackState
from blackjack_env.rules import MOVES, REWARDS
from blackjack_env.server import view
from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction

GAME_OVER = "the game is over and stays as it is; reset() deals the next one"


class BlackJackEnvironment(Environment[BlackJackAction, BlackJackObservation, BlackJackState]):
    """A player against a dealer. A win pays 1, a loss -1, everything else 0.

    `reset(seed=s)` deals the game of seed `s`. A reset without a seed deals the next game of the
    sequence that the last seeded reset began, so one seed also settles a whole run of games.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the final table
    HOST = "inline"  # a step computes next to nothing and never waits

    def __init__(self) -> None:
        super().__init__()
        self._seeds = Seeds()
        self._game: Game | None = None
        self._state = BlackJackState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> BlackJackObservation:
        """Deals a game."""
        seed = self._seeds.next(seed)
        self._game = Game(seed)
        self._state = BlackJackState(episode_id=episode_id or str(uuid4()), seed=seed)
        return _observe(self._game)

    def step(
        self, action: BlackJackAction, timeout_s: float | None = None, **kwargs: Any
    ) -> BlackJackObservation:
        """Makes a move. After the end nothing moves, and nothing is paid a second time.

        Raises:
            errors.ResetRequired: no game has been dealt yet.
        """
        game = self._running()
        if game.result is not None:
            return _observe(game, error=GAME_OVER)
        if action.move == "hit":
            game.hit()
        else:
            game.stand()
        self._state.step_count += 1
        self._state.finished = game.result is not None
        return _observe(game, reward=REWARDS[game.result] if game.result else 0.0)

    @property
    def state(self) -> BlackJackState:
        """Where the game stands."""
        return self._state

    def render_web(self, observation: dict[str, Any]) -> str:
        """The table, as HTML."""
        return view.draw(observation)

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """What the player may do, by keys."""
        return view.actions(observation)

    def _running(self) -> Game:
        if self._game is None:
            raise errors.ResetRequired("no game has been dealt yet; call reset() first")
        return self._game


def _observe(game: Game, *, reward: float = 0.0, **metadata: Any) -> BlackJackObservation:
    """The open part of the table."""
    points, soft = game.player
    over = game.result is not None
    refused = f"Refused: {metadata['error']}\n" if "error" in metadata else ""
    return BlackJackObservation(
        done=over,
        reward=reward,
        metadata={"seed": game.seed, **metadata},
        player_sum=points,
        usable_ace=soft,
        dealer_card=game.dealer_cards[0],
        player_cards=list(game.player_cards),
        dealer_cards=list(game.dealer_cards),
        legal_actions=[] if over else list(MOVES),
        result=game.result,
        text=f"{refused}{_describe(game)}",
    )


def _describe(game: Game) -> str:
    points, soft = game.player
    dealer = " ".join(map(str, game.dealer_cards))
    kind = "soft" if soft else "hard"
    return f"you {kind} {points} dealer {dealer} {game.result or 'act'}"
