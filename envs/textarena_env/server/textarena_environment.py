"""The text game that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from openenv import Environment, Seeds, errors
from textarena_env.models import TextArenaAction, TextArenaObservation, TextArenaState
from textarena_env.server import view
from textarena_env.server.episode import Episode
from textarena_env.server.options import TextArenaOptions

GAME_OVER = "the game is over and stays as it is; reset() begins the next one"
SERVERS_OWN = ("env_kwargs", "download_nltk", "engine")


class TextArenaEnvironment(Environment[TextArenaAction, TextArenaObservation, TextArenaState]):
    """A text game. It pays at its end; in Wordle 1 for the secret word.

    `reset(seed=s)` begins the game of seed `s`. A reset without a seed begins the next game of the
    sequence that the last seeded reset began.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last observation
    OPTIONS = TextArenaOptions

    def __init__(
        self,
        env_id: str | None = None,
        num_players: int | None = None,
        max_turns: int | None = None,
        download_nltk: bool | None = None,
        env_kwargs: dict[str, Any] | None = None,
        options: TextArenaOptions | None = None,
    ) -> None:
        """Chooses a game.

        Args:
            env_id: the game's id.
            num_players: how many play.
            max_turns: turns after which an episode is truncated.
            download_nltk: fetch NLTK's words when a game of TextArena begins.
            env_kwargs: the game's own parameters.
            options: all of these, by default as the variables say; the others win over it.

        Raises:
            InvalidRequest: one of them is wrong.
        """
        super().__init__()
        given = {
            "env_id": env_id,
            "num_players": num_players,
            "max_turns": max_turns,
            "download_nltk": download_nltk,
            "env_kwargs": env_kwargs,
        }
        self._options = (options or TextArenaOptions.from_variables()).updated(given)
        self._seeds = Seeds()
        self._episode: Episode | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> TextArenaObservation:
        """Begins a game.

        Args:
            seed: what settles it.
            episode_id: the episode's name; one is made up without it.
            **options: `env_id`, `num_players` and `max_turns`, for this game alone; and for the
                Wordle of this package, `env_kwargs`.

        Raises:
            InvalidRequest: an option is unknown, wrong, or contradicts another. The game that is
                being played goes on.
        """
        wanted = self._wanted(options)
        self._episode = Episode(wanted, self._seeds.next(seed), episode_id or str(uuid4()))
        return self._episode.seen(reward=0.0)

    def step(
        self, action: TextArenaAction, timeout_s: float | None = None, **kwargs: Any
    ) -> TextArenaObservation:
        """Lets the current player say something.

        A guess that Wordle does not take is answered with a reward of 0 and `metadata["error"]`;
        it is a turn of `max_turns`, and the hundredth truncates the episode. So is a step after
        the end, which changes nothing. TextArena's games take or punish a wrong
        move by their own rules, and it is in `metadata["error"]`, too.

        Raises:
            errors.ResetRequired: no game has begun.
        """
        episode = self._running()
        if episode.over:
            return episode.seen(reward=0.0, error=GAME_OVER)
        return episode.step(action)

    @property
    def state(self) -> TextArenaState:
        """Where the game stands, without its secrets."""
        if self._episode is None:
            return TextArenaState(
                env_id=self._options.env_id,
                num_players=self._options.num_players,
                max_turns=self._options.max_turns,
            )
        return self._episode.state

    def render_web(self, observation: dict[str, Any]) -> str:
        """Wordle's letters or what was said, as HTML."""
        return view.draw(observation, self._running().state)

    def _running(self) -> Episode:
        if self._episode is None:
            raise errors.ResetRequired("no game has begun yet; call reset() first")
        return self._episode

    def _wanted(self, options: dict[str, Any]) -> TextArenaOptions:
        """The episode's options. What code runs, and with what, is for the server to say."""
        wanted = self._options.updated(options)
        if wanted.builtin:
            return wanted
        for name in SERVERS_OWN:
            if options.get(name) is not None and options[name] != getattr(self._options, name):
                raise errors.InvalidRequest(
                    f"{name} of TextArena's games is set where the server starts, by "
                    f"{TextArenaOptions.variable(name)}, not by reset"
                )
        return wanted
