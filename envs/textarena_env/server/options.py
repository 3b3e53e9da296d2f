"""What a text game can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from openenv import Options

Parameter = bool | int | float | Annotated[str, Field(max_length=10_000)]

WORDLE = "Wordle-v0"


class TextArenaOptions(Options, variables="TEXTARENA_"):
    """Which game is played, and by how many.

    Attributes:
        env_id: a game's id; `Wordle-v0` is built in, the others are TextArena's.
        num_players: how many play. All of them are the client's, in turn.
        max_turns: turns after which an episode is truncated; a message that is not taken counts as
            one. `None` leaves it to the game, which may refuse 100 messages.
        env_kwargs: the game's own parameters.
        engine: who plays Wordle: `auto` and `builtin` are this package, `textarena` is TextArena,
            which needs NLTK's words.
        download_nltk: fetch NLTK's words when a game of TextArena begins; needs a network.
    """

    env_id: str = Field(default=WORDLE, max_length=100)
    num_players: int = Field(default=1, ge=1, le=20)
    max_turns: int | None = Field(default=None, ge=1)
    env_kwargs: dict[str, Parameter] = Field(default_factory=dict, max_length=32)
    engine: Literal["auto", "builtin", "textarena"] = "auto"
    download_nltk: bool = False

    @model_validator(mode="after")
    def _check_engine(self) -> Self:
        if self.engine == "builtin" and self.env_id != WORDLE:
            raise ValueError(f"the game that is built in is {WORDLE}, got {self.env_id}")
        return self

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """These options with some changed; another game begins without parameters."""
        game = changes.get("env_id")
        if game is not None and game != self.env_id and changes.get("env_kwargs") is None:
            changes = {**changes, "env_kwargs": {}}
        return super().updated(changes)

    @property
    def builtin(self) -> bool:
        """Whether the game is this package's own Wordle."""
        return self.env_id == WORDLE and self.engine != "textarena"
