"""The console that a server holds for each session."""

from __future__ import annotations

from copy import deepcopy
from typing import Any
from uuid import uuid4

from atari_env.episode import Episode
from atari_env.games import title
from atari_env.models import NOTHING, AtariAction, AtariObservation, AtariState, Bytes
from atari_env.options import AtariOptions
from atari_env.png import png
from atari_env.server import view
from atari_env.shelf import SHELF
from openenv import Environment, Seeds, errors
from openenv.env.web_html import WebAction

IS_OVER = "the episode is over and stays as it is; reset() begins the next one"
GOAL = (
    "You play for points; those of a step are its reward. Answer with the number of an action, "
    "which is held for the frames of the step."
)
NO_EPISODE = "no episode has begun yet; call reset() first"


class AtariEnvironment(Environment[AtariAction, AtariObservation, AtariState]):
    """An Atari 2600 with a game in it. A step's reward is the points of its frames.

    `reset(seed=s)` plays the game of seed `s`. A reset without a seed plays the next game of the
    sequence that the last seeded reset began.

    Args:
        game_name: the game; by default that of the options.
        options: how it is played; by default as the environment variables say.
        **changes: options that differ from those, by name.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last frame
    OPTIONS = AtariOptions

    def __init__(
        self,
        game_name: str | None = None,
        *,
        options: AtariOptions | None = None,
        **changes: Any,
    ) -> None:
        super().__init__()
        given = options or AtariOptions.from_variables()
        self._options = given.updated({"game_name": game_name, **changes})
        self._seeds = Seeds()
        self._episode: Episode | None = None
        self._state = AtariState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> AtariObservation:
        """Begins a game.

        Args:
            seed: what settles it, 0 or more.
            episode_id: its name; made up if there is none.
            **kwargs: options for this episode alone.

        Raises:
            errors.InvalidRequest: there is no such option, value, mode or difficulty. The running
                episode goes on.
        """
        options = self._options.updated(kwargs)
        seeds = deepcopy(self._seeds)  # a reset that fails uses up none
        seed = seeds.next(seed)
        self._episode = self._begun(options, seed)
        self._seeds = seeds
        told = options.model_dump(include=set(AtariState.model_fields))
        self._state = AtariState(episode_id=episode_id or str(uuid4()), seed=seed, **told)
        return _observe(self._episode)

    def step(
        self, action: AtariAction, timeout_s: float | None = None, **kwargs: Any
    ) -> AtariObservation:
        """Plays the frames of a step. An action that does not exist plays none.

        Raises:
            errors.ResetRequired: no episode has begun yet.
        """
        episode = self._running()
        if episode.end:
            return _observe(episode, error=IS_OVER)
        if not 0 <= action.action_id < len(episode.actions):
            return _observe(episode, error=_no_action(action.action_id, episode))
        reward = float(episode.act(action.action_id))
        self._state.step_count += 1
        self._state.score = episode.score
        return _observe(episode, reward=reward)

    @property
    def state(self) -> AtariState:
        """Where the game stands."""
        return self._state

    def close(self) -> None:
        """Leaves the console to whoever plays next."""
        if self._episode:
            SHELF.put(self._episode.console)
        self._episode = None

    def render_web(self, observation: dict[str, Any]) -> str:
        """The screen, as HTML."""
        return view.draw(observation, self._running())

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """The game's actions; the joystick is the arrow keys and its button is space."""
        return view.actions(self._running())

    def _running(self) -> Episode:
        if self._episode is None:
            raise errors.ResetRequired(NO_EPISODE)
        return self._episode

    def _begun(self, options: AtariOptions, seed: int) -> Episode:
        """An episode on the console of the last one if it will do, or else on another."""
        played = self._episode and self._episode.console
        if played and played.fits(options, seed):
            return Episode(played, options, seed)
        episode = Episode(SHELF.take(options, seed), options, seed)
        if played:
            SHELF.put(played)
        return episode


def _observe(episode: Episode, *, reward: float = 0.0, error: str = "") -> AtariObservation:
    """What the player sees now."""
    options = episode.options
    pixels = episode.console.observed(options.obs_type)
    frames = episode.frames
    return AtariObservation(
        done=episode.end in ("game over", "life lost"),
        truncated=episode.end == "frame limit",
        reward=reward,
        metadata={
            "game_name": options.game_name,
            "action_meanings": [f"Action.{name}" for name in episode.actions],
            "seed": episode.seed,
            **({"error": error} if error else {}),
        },
        screen_shape=list(pixels.shape),
        legal_actions=list(range(len(episode.actions))),
        lives=episode.lives,
        episode_frame_number=frames,
        frame_number=frames,
        score=episode.score,
        text=_describe(episode, error),
        **_formatted(pixels, options.obs_format),
    )


def _formatted(pixels: Bytes, form: str) -> dict[str, Any]:
    """The fields of which one holds the pixels."""
    held = {"screen": NOTHING, "frame": NOTHING, "png": b""}
    if form == "list":
        return held | {"screen": pixels.ravel()}
    return held | ({"png": png(pixels)} if form == "png" else {"frame": pixels})


def _no_action(number: int, episode: Episode) -> str:
    told = number if number.bit_length() < 64 else "of so many digits"
    return f"there is no action {told}; the actions are 0 to {len(episode.actions) - 1}"


def _describe(episode: Episode, error: str) -> str:
    """All but the picture, for a reader."""
    refused = f"Refused: {error}\n" if error else ""
    name = title(episode.options.game_name)
    stand = f"{name}: score {episode.score}, lives {episode.lives}, frame {episode.frames}"
    if episode.end:
        return f"{refused}{stand}; over: {episode.end}"
    names = ", ".join([f"{place} {name}" for place, name in enumerate(episode.actions)])
    return f"{refused}{stand}; actions: {names}\n{GOAL}"
