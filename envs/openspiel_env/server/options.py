"""What an OpenSpiel game can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import Self

from openenv import Options
from openspiel_env.models import LONGEST_NAME, MOST_PARAMETERS

OpponentPolicy = Literal["random", "first", "last", "middle"]
Parameter = bool | int | float | Annotated[str, Field(max_length=10_000)]


class OpenSpielOptions(Options, variables="OPENSPIEL_"):
    """Which game is played, from which seat, and against whom.

    Attributes:
        game_name: OpenSpiel's short name of a game (`OPENSPIEL_GAME`).
        agent_player: the agent's seat, from 0.
        opponent_policy: how the other seats are played: a `random` legal action, or the `first`,
            `last` or `middle` one.
        game_params: the game's own parameters.
        tensor: what `info_state` holds: `auto` is the information state where the game has one,
            else the observation; `observation` is always that.
    """

    game_name: str = Field(default="catch", max_length=LONGEST_NAME)
    agent_player: int = Field(default=0, ge=0)
    opponent_policy: OpponentPolicy = "random"
    game_params: dict[str, Parameter] = Field(default_factory=dict, max_length=MOST_PARAMETERS)
    tensor: Literal["auto", "observation"] = "auto"

    @classmethod
    def variable(cls, name: str) -> str:
        """The variable of an option; the game's is `OPENSPIEL_GAME`."""
        return super().variable("game" if name == "game_name" else name)

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """These options with some changed; another game begins without parameters."""
        game = changes.get("game_name")
        if game is not None and game != self.game_name and changes.get("game_params") is None:
            changes = {**changes, "game_params": {}}
        return super().updated(changes)
