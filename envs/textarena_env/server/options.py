"""What a text game can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from openenv import Options

Parameter = bool | int | float | Annotated[str, Field(max_length=10_000)]

WORDLE = "Wordle-v0"


class TextArenaOptions(Options, variables="TEXTARENA_"):
    """Which game is played, and by how many.

    Attributes:
        env_id: a game's id; `Wordle-v0` is built in, the others are TextArena's.
        num_players: how many play. All of them are the client's, in turn.
        max_turns: turns after which an episode is truncated; `None` leaves it to the game.
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

    @property
    def builtin(self) -> bool:
        """Whether the game is this package's own Wordle."""
        return self.engine == "builtin" or (self.engine == "auto" and self.env_id == WORDLE)
