"""The chessboard that a server holds for each session."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any
from uuid import uuid4

from chess_env.models import ChessAction, ChessObservation, ChessState
from chess_env.server import web_view
from chess_env.server.episode import Episode
from chess_env.server.opponents import opponent_for
from chess_env.server.options import UCI_OPPONENTS, ChessOptions
from chess_env.server.rubrics import ChessWinLossRubric
from chess_env.server.uci import EngineFault, UciEngine, find_engine
from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction

NO_GAME = "no game has begun yet; call reset() first"


class ChessEnvironment(Environment[ChessAction, ChessObservation, ChessState]):
    """Chess against an opponent, or against oneself. A win pays 1, a loss -1, a draw 0.

    `reset(seed=s)` begins the game of seed `s`: the opponent's choices and, if it alternates, the
    agent's colour. A reset without a seed begins the next game of the sequence that the last
    seeded reset began.

    Args:
        options: the defaults of every game; `CHESS_*` variables by default.
        **settings: some of them by name, as in `ChessEnvironment(opponent="random")`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the final board
    OPTIONS = ChessOptions

    def __init__(self, options: ChessOptions | None = None, **settings: Any) -> None:
        self._credit = ChessWinLossRubric()
        super().__init__(rubric=self._credit)
        known = ChessOptions.from_variables() if options is None else options
        self._options = ChessOptions.model_validate({**dict(known), **settings})
        self._seeds = Seeds()
        self._last_seed = self._seeds.next()
        self._episode: Episode | None = None
        self._engine: UciEngine | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> ChessObservation:
        """Begins a game.

        Args:
            seed: the game's seed.
            episode_id: the episode's name.
            **options: those of `ChessOptions` for this game, but for `uci_path`.

        Raises:
            errors.InvalidRequest: an option is unknown or wrong. The last game goes on.
            errors.ConfigurationError: the opponent's engine is not there. The last game goes on.
        """
        if options.get("uci_path") is not None:
            raise errors.InvalidRequest(
                "uci_path names a program of the server's machine; set CHESS_UCI_PATH there"
            )
        chosen = self._options.updated(options)
        engine = self._engine_for(chosen)
        drawn = self._seeds.next(seed)
        if seed is None:  # colours take turns: a seed of the other parity than the last
            drawn = drawn & ~1 | self._last_seed & 1 ^ 1
        self._last_seed = drawn
        self._episode = _begun(chosen, drawn, engine)
        self._reset_rubric()
        self._credit.gamma = chosen.gamma
        return self._episode.begin(episode_id or str(uuid4()))

    def step(
        self, action: ChessAction, timeout_s: float | None = None, **kwargs: Any
    ) -> ChessObservation:
        """Makes a move, and has the opponent answer.

        Args:
            action: the move.
            timeout_s: seconds that a UCI engine may take at most, if the option allows it more.
            **kwargs: ignored.

        Raises:
            errors.ResetRequired: no game has begun yet.
        """
        episode = self._playing()
        over = episode.game.ending is not None
        observation = episode.play(action.move, timeout_s)
        moved = "error" not in observation.metadata
        if moved or (observation.done and not over):  # a move that forfeits the game counts, too
            self._apply_rubric(action, observation)
        return observation

    @property
    def state(self) -> ChessState:
        """Where the game stands."""
        return self._episode.state() if self._episode else ChessState()

    def render_web(self, observation: dict[str, Any]) -> str:
        """The board, as HTML."""
        return web_view.draw(observation, self._playing())

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The legal moves in SAN, 100 at most."""
        return web_view.actions(self._playing().game)

    def close(self) -> None:
        """Kills the engine's process, if there is one."""
        if self._engine:
            self._engine.close()

    def _playing(self) -> Episode:
        if self._episode is None:
            raise errors.ResetRequired(NO_GAME)
        return self._episode

    def _engine_for(self, options: ChessOptions) -> UciEngine | None:
        """The UCI engine that the options ask for, ready for a new game."""
        if options.opponent not in UCI_OPPONENTS:
            return None
        try:
            return self._started(options)
        except EngineFault as fault:
            raise errors.ConfigurationError(str(fault)) from None

    def _started(self, options: ChessOptions) -> UciEngine:
        """The engine of these options; the one that runs, if it is the same and well."""
        program, skill = find_engine(options.opponent, options.uci_path), options.opponent_skill
        running = self._engine
        if running and (running.program, running.skill) == (program, skill):
            with suppress(EngineFault):  # then a new one is started
                running.new_game()
                return running
        self._engine = UciEngine(program, skill)
        if running:
            running.close()
        return self._engine


def _begun(options: ChessOptions, seed: int, engine: UciEngine | None) -> Episode:
    agent = {"white": True, "black": False}.get(options.agent_color, seed % 2 == 0)
    opponent = opponent_for(options, random.Random(f"opponent {seed}"), engine)
    return Episode(options, seed, agent, opponent)
