"""BlackJack by OpenSpiel, as the peer's packages play it: through `rl_environment`.

Its published package is not to be had; this is what is known of it. A hand is played with the
numbers that OpenSpiel gives its actions: 0 hits, 1 stands.
"""

from typing import Any

from open_spiel.python import rl_environment


def naive() -> tuple[Any, Any, Any]:
    """The environment, its action and its observation."""
    from openenv.core.env_server import Action, Environment, Observation, State

    class OpenSpielAction(Action):
        action_id: int
        game_name: str = "blackjack"

    class OpenSpielObservation(Observation):
        info_state: list[float]
        legal_actions: list[int]
        game_phase: str = "playing"
        current_player_id: int = 0
        opponent_last_action: int | None = None

    class OpenSpiel(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self.game = rl_environment.Environment("blackjack")

        def reset(self, **options: Any) -> OpenSpielObservation:
            return self.seen(self.game.reset(), "initial")

        def step(self, action: OpenSpielAction, **options: Any) -> OpenSpielObservation:
            return self.seen(self.game.step([action.action_id]), "playing")

        @property
        def state(self) -> State:
            return State()

        def seen(self, turn: Any, phase: str) -> OpenSpielObservation:
            over = turn.last()
            return OpenSpielObservation(
                info_state=list(turn.observations["info_state"][0]),
                legal_actions=[] if over else list(turn.observations["legal_actions"][0]),
                game_phase="terminal" if over else phase,
                current_player_id=turn.observations["current_player"],
                reward=None if turn.rewards is None else float(turn.rewards[0]),
                done=over,
            )

    return OpenSpiel, OpenSpielAction, OpenSpielObservation
