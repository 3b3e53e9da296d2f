"""What a player of text games says and sees."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from openenv import Action, Observation, State

LONGEST_MESSAGE = 20_000
GAME_ID = -1


class TextArenaMessage(BaseModel):
    """Something that was said.

    Attributes:
        sender_id: the player who said it, or -1 for the game itself.
        content: the words.
        category: `PROMPT`, `PLAYER_ACTION`, `GAME_MESSAGE`, `GAME_BOARD`,
            `GAME_ACTION_DESCRIPTION` or `GAME_ADMIN`.
    """

    sender_id: int
    content: str
    category: str


class TextArenaAction(Action):
    """What the current player says.

    Attributes:
        message: free text; most games look for a move in square brackets, such as `[crane]`.
    """

    message: str = Field(max_length=LONGEST_MESSAGE)


class TextArenaObservation(Observation):
    """The game as its current player sees it.

    Attributes:
        prompt: the rules and the task, in full at every step.
        messages: everything that this player has seen of the episode, the prompt first.
        current_player_id: who speaks next.
        legal_players: who may speak; nobody once the game is over.
        info: `reward_signals` by name, and what the game tells about the step.
        text: prompt and messages as one text; before them, why the last message was not taken, if
            it was not.
    """

    prompt: str
    messages: list[TextArenaMessage] = Field(default_factory=list)
    current_player_id: int = 0
    legal_players: list[int] = Field(default_factory=list)
    info: dict[str, Any] = Field(default_factory=dict)
    text: str = ""


class TextArenaState(State):
    """Where a game stands. The secret of a game is not in it.

    Attributes:
        env_id: the game's id.
        num_players: how many play.
        step_count: messages of the episode so far, also those that were not taken.
        max_turns: the limit of turns, `None` where there is none but the game's own.
        turn: turns that were taken.
        last_reward: what the last step paid.
        last_info: the last observation's `info`.
        raw_state: what is open about the game: `done`, `current_player_id`, and Wordle's `guesses`
            with their marks.
        seed: what settles the game.
    """

    env_id: str
    num_players: int
    max_turns: int | None = None
    turn: int = 0
    last_reward: float = 0.0
    last_info: dict[str, Any] = Field(default_factory=dict)
    raw_state: dict[str, Any] = Field(default_factory=dict)
    seed: int | None = None
