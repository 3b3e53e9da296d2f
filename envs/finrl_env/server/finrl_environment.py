"""The trading account that a server holds for each session."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from finrl_env.models import FinRLAction, FinRLObservation, FinRLState
from finrl_env.options import FinRLOptions, configured
from openenv import Environment, Seeds, errors, needs
from openenv.env.web_html import WebAction

with needs("openenv-finrl-env[server]"):
    from finrl_env.describing import describe
    from finrl_env.episode import Episode
    from finrl_env.server import view

CLOSED = "the last day is over, and nothing is traded any more; reset() begins another episode"


class FinRLEnvironment(Environment[FinRLAction, FinRLObservation, FinRLState]):
    """Buying and selling stocks, a day at a time. A reward is the day's gain, scaled.

    `reset(seed=s)` begins the episode of seed `s`, and `reset()` the next one of the sequence that
    the last seeded reset began. Any of `FinRLOptions` may be given to a reset, for its episode, but
    for those that are the server's own.

    Args:
        options: what holds for every episode; the variables `FINRL_…` by default.
        **changes: options by name, over those.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the last day
    OPTIONS = FinRLOptions

    def __init__(self, options: FinRLOptions | None = None, **changes: Any) -> None:
        super().__init__()
        self._options = configured(options, **changes)
        self._seeds = Seeds()
        self._episode: Episode | None = None
        self._episode_id, self._steps = "", 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> FinRLObservation:
        """Opens an account on the first day.

        Raises:
            InvalidRequest: an option is wrong, or fits neither the market nor the others. The
                episode that was running goes on.
        """
        options = self._options.for_episode(kwargs)
        self._episode = Episode(options, self._seeds.next(seed))
        self._episode_id, self._steps = episode_id or str(uuid4()), 0
        return _observe(self._episode)

    def step(
        self, action: FinRLAction, timeout_s: float | None = None, **kwargs: Any
    ) -> FinRLObservation:
        """Trades, and goes on to the next day.

        An action that is wrong trades nothing, and the day stays.

        Raises:
            errors.ResetRequired: there was no reset yet.
        """
        episode = self._playing()
        error = CLOSED if episode.done else episode.fault(action.actions)
        if error:
            return _observe(episode, filled=[0.0] * len(episode.filled), error=error)
        reward = episode.trade(action.actions)
        self._steps += 1
        return _observe(episode, reward=reward)

    @property
    def state(self) -> FinRLState:
        """Where the episode stands, with the portfolio's metrics so far."""
        episode = self._episode
        if episode is None:
            return FinRLState()
        return FinRLState(
            episode_id=self._episode_id,
            step_count=self._steps,
            seed=episode.seed,
            day=episode.day,
            days=len(episode.tape),
            portfolio_value=episode.value,
            finished=episode.done,
            metrics=episode.metrics(),
        )

    def render_web(self, observation: dict[str, Any]) -> str:
        """The equity curve, the holdings and the metrics, as HTML."""
        return view.draw(observation, self._playing())

    def web_actions(self, observation: dict[str, Any]) -> list[WebAction]:
        """Buying, holding or selling all stocks alike."""
        return view.actions(observation)

    def _playing(self) -> Episode:
        if self._episode is None:
            raise errors.ResetRequired("no account has been opened yet; call reset() first")
        return self._episode


def _observe(
    episode: Episode, *, reward: float = 0.0, error: str = "", **metadata: Any
) -> FinRLObservation:
    known: dict[str, Any] = {"seed": episode.seed, "day": episode.day, "filled": episode.filled}
    if error:
        known["error"] = error
    if episode.done:
        known["metrics"] = episode.metrics()
    return FinRLObservation(
        done=episode.done,
        reward=reward,
        metadata=known | metadata,
        state=list(episode.vector),
        portfolio_value=episode.value,
        date=episode.date,
        tickers=list(episode.tape.tickers),
        text=describe(episode, error),
    )
