"""The game that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction
from openspiel_env.models import OpenSpielAction, OpenSpielObservation, OpenSpielState
from openspiel_env.server import games, parameters, views, web_view
from openspiel_env.server.match import Match
from openspiel_env.server.options import OpenSpielOptions

MOST_NAMED = 20
GAME_OVER = "the game is over and stays as it is; reset() begins the next one"


class OpenSpielEnvironment(Environment[OpenSpielAction, OpenSpielObservation, OpenSpielState]):
    """An agent's seat in one of OpenSpiel's games. Rewards are the game's own.

    `reset(seed=s)` begins the game of seed `s`. A reset without a seed begins the next game of the
    sequence that the last seeded reset began.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the final position
    OPTIONS = OpenSpielOptions

    def __init__(
        self,
        game_name: str | None = None,
        agent_player: int | None = None,
        opponent_policy: str | None = None,
        game_params: dict[str, Any] | None = None,
        options: OpenSpielOptions | None = None,
    ) -> None:
        """Takes a seat.

        Args:
            game_name: OpenSpiel's short name of a game.
            agent_player: the agent's seat, from 0.
            opponent_policy: `random`, `first`, `last` or `middle`.
            game_params: the game's own parameters.
            options: all of these, by default as the variables say; the others win over it.

        Raises:
            InvalidRequest: there is no such game, seat, policy or parameter.
        """
        super().__init__()
        given = {
            "game_name": game_name,
            "agent_player": agent_player,
            "opponent_policy": opponent_policy,
            "game_params": game_params,
        }
        self._options = (options or OpenSpielOptions.from_variables()).updated(given)
        self._game = games.load(self._options)
        self._seeds = Seeds()
        self._match: Match | None = None
        self._episode_id: str | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> OpenSpielObservation:
        """Begins a game.

        Args:
            seed: what settles chance and the opponents.
            episode_id: the episode's name; one is made up without it.
            **options: `game_name`, `agent_player`, `opponent_policy`, `game_params` and `tensor`,
                for this game alone.

        Raises:
            InvalidRequest: an option is unknown, wrong, or contradicts another. The game that is
                being played goes on.
        """
        game = self._game_of(options)
        self._match = Match(game, self._seeds.next(seed))
        self._episode_id = episode_id or str(uuid4())
        return _observe(self._match, reward=self._match.paid if self._match.over else None)

    def step(
        self, action: OpenSpielAction, timeout_s: float | None = None, **kwargs: Any
    ) -> OpenSpielObservation:
        """Makes a move, and lets the opponents answer it.

        A move that is not legal is not made: it is answered with the position as it is, a reward of
        0 and `metadata["error"]`. So is a step after the end.

        Raises:
            errors.ResetRequired: no game has begun.
        """
        match = self._running()
        if match.over:
            return _observe(match, reward=0.0, error=GAME_OVER)
        match.answered += 1
        if action.action_id not in match.state.legal_actions():
            return _observe(match, reward=0.0, error=_illegal(match, action.action_id))
        return _observe(match, reward=match.act(action.action_id))

    @property
    def state(self) -> OpenSpielState:
        """Where the game stands; nothing of it is hidden from the agent."""
        match = self._match
        options = self._game.options if match is None else match.game.options
        game = self._game if match is None else match.game
        return OpenSpielState(
            episode_id=self._episode_id,
            step_count=0 if match is None else match.answered,
            game_name=options.game_name,
            agent_player=options.agent_player,
            opponent_policy=options.opponent_policy,
            game_params=dict(options.game_params),
            num_players=game.engine.num_players(),
            move_count=0 if match is None else match.moves,
            seed=None if match is None else match.seed,
            finished=match is not None and match.over,
        )

    def render_web(self, observation: dict[str, Any]) -> str:
        """The agent's view of the game, as HTML."""
        return web_view.draw(observation, self._running())

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The legal moves by their names, 100 at most."""
        return web_view.actions(observation, self._running())

    def _running(self) -> Match:
        if self._match is None:
            raise errors.ResetRequired("no game has begun yet; call reset() first")
        return self._match

    def _game_of(self, options: dict[str, Any]) -> games.Game:
        wanted = self._options.updated(options)
        if wanted == self._options:
            return self._game
        if (wanted.game_name, wanted.game_params) != (
            self._options.game_name,
            self._options.game_params,
        ):
            parameters.check(wanted.game_name, wanted.game_params)
        return games.load(wanted)


def _observe(match: Match, *, reward: float | None, **metadata: Any) -> OpenSpielObservation:
    """The agent's view."""
    legal = [] if match.over else list(match.state.legal_actions())
    info_state = views.tensor(match)
    refused = f"Refused: {metadata['error']}\n" if "error" in metadata else ""
    names = views.action_names(match, legal)
    return OpenSpielObservation(
        done=match.over,
        reward=reward,
        metadata={"seed": match.seed, "action_names": names, **metadata},
        info_state=info_state,
        legal_actions=legal,
        game_phase=_phase(match),
        current_player_id=match.state.current_player(),
        opponent_last_action=match.opponent_last_action,
        text=f"{refused}{views.text(match, info_state, legal, names)}",
    )


def _phase(match: Match) -> str:
    if match.over:
        return "terminal"
    return "playing" if match.actions else "initial"


def _illegal(match: Match, action: int) -> str:
    legal = match.state.legal_actions()
    shown = legal[:MOST_NAMED]
    names = zip(shown, views.action_names(match, shown), strict=True)
    there = ", ".join(f"{action} {name}" for action, name in names)
    more = f" and {len(legal) - len(shown)} more" if len(legal) > len(shown) else ""
    return f"action_id {action!r:.40} is not legal now, nothing was done; legal are {there}{more}"
