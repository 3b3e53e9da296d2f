"""What a player of OpenSpiel's games does and sees."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from openenv import Action, Observation, State

LONGEST_NAME = 100
MOST_PARAMETERS = 32


class OpenSpielAction(Action):
    """A move.

    Attributes:
        action_id: one of the observation's `legal_actions`.
        game_name: left alone; the game is chosen by `reset` or by the server's variables.
        game_params: left alone, too.
    """

    action_id: int
    game_name: str = Field(default="catch", max_length=LONGEST_NAME)
    game_params: dict[str, Any] = Field(default_factory=dict, max_length=MOST_PARAMETERS)


class OpenSpielObservation(Observation):
    """The game as its agent sees it. What opponents hold is not in it.

    Attributes:
        info_state: the agent's information state (or observation) as OpenSpiel's flat tensor;
            empty for the few games that have none.
        legal_actions: ids of the moves that may follow, ascending; none once the game is over.
        game_phase: `"initial"` before the agent's first move, then `"playing"`, and `"terminal"`.
        current_player_id: whose turn it is: the agent's, or -4 once the game is over.
        opponent_last_action: what an opponent did last, `None` before that, and where the agent
            cannot see it.
        text: the game in words and characters: why the last move was refused, if it was, who the
            agent is, what it sees, and the names of the legal moves, 40 at most.
    """

    info_state: list[float]
    legal_actions: list[int]
    game_phase: str = "playing"
    current_player_id: int = 0
    opponent_last_action: int | None = None
    text: str = ""


class OpenSpielState(State):
    """Where a game stands.

    Attributes:
        game_name: OpenSpiel's short name of the game.
        agent_player: the agent's seat, from 0.
        opponent_policy: how the other seats are played.
        game_params: the game's parameters that are not its defaults.
        num_players: seats of the game.
        step_count: the agent's steps of the game, also those that were not legal.
        move_count: moves of all players, the agent's and its opponents'.
        seed: what settles chance and the opponents.
        finished: whether the game is over.
    """

    game_name: str = "catch"
    agent_player: int = 0
    opponent_policy: str = "random"
    game_params: dict[str, Any] = Field(default_factory=dict)
    num_players: int = 1
    move_count: int = 0
    seed: int | None = None
    finished: bool = False
