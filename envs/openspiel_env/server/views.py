"""A match in words: what a language model is shown of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from openspiel_env import blackjack, tic_tac_toe
from openspiel_env.server.match import Match, view
from openspiel_env.server.seats import seat

MOST_NAMES = 40
_COLOURS = re.compile(r"\x1b\[\d*m")


def tensor(match: Match) -> list[float]:
    """The agent's information state or observation, as a flat list."""
    if not match.game.tensor:
        return []
    state, agent = match.state, match.agent
    read = state.information_state_tensor if match.game.information else state.observation_tensor
    return list(read(agent))


def action_names(match: Match, actions: list[int]) -> list[str]:
    """What the agent's moves are called."""
    return [match.state.action_to_string(match.agent, action) for action in actions]


def text(match: Match, info_state: list[float], legal: list[int], names: list[str]) -> str:
    """The game as the agent sees it, and what it may do or has got."""
    shown = SHOWN.get(match.game.name, _any)(match, info_state).rstrip("\n")
    if match.over:
        return f"{shown}\nover, you got {match.paid:g}"
    moves = [f"{action} {name}" for action, name in zip(legal, names, strict=True)]
    more = f" and {len(moves) - MOST_NAMES} more" if len(moves) > MOST_NAMES else ""
    return f"{shown}\nactions: {', '.join(moves[:MOST_NAMES])}{more}"


def _blackjack(match: Match, info_state: list[float]) -> str:
    return blackjack.Table.read(info_state).text(match.paid if match.over else None)


def _tic_tac_toe(match: Match, info_state: list[float]) -> str:
    return f"you are {tic_tac_toe.PLAYERS[match.agent]}\n{tic_tac_toe.board(info_state)}"


def _kuhn_poker(match: Match, info_state: list[float]) -> str:
    """Its information state is written as the card and then `p` and `b` for what was done."""
    seats = match.game.engine.num_players()
    known = re.fullmatch(r"(\d+)([pb]*)", view(match.state, match.agent))
    assert known is not None, "Kuhn poker's information states are a card and moves"
    moves = " ".join({"p": "pass", "b": "bet"}[move] for move in known[2])
    return (
        f"you are player {match.agent}, your card is {known[1]} of 0 to {seats}, the highest wins; "
        f"all have put in 1, a bet is 1 more\n"
        f"moves: {moves or 'none'}"
    )


def _catch(match: Match, info_state: list[float]) -> str:
    goal = "o falls, you are x; be below it at the end: 1 if you are, else -1"
    return f"{goal}\n{match.state.observation_string(match.agent)}"


def _cliff_walking(match: Match, info_state: list[float]) -> str:
    grid = match.state.observation_string(match.agent)
    row, column = next(
        (row, cells.index("P")) for row, cells in enumerate(grid.split("\n")) if "P" in cells
    )
    place = f"you are P at row {row}, column {column}; X is the cliff, G the goal"
    return f"{place}; a step pays -1, the cliff -100, and both X and G end it\n{grid}"


def _any(match: Match, info_state: list[float]) -> str:
    kind = match.game.engine.get_type()
    if kind.provides_observation_string:
        shown = str(match.state.observation_string(match.agent))
    else:
        shown = view(match.state, match.agent)
    return f"{seat(match.game)}\n{_COLOURS.sub('', shown)}"


SHOWN: dict[str, Callable[[Match, list[float]], str]] = {
    "blackjack": _blackjack,
    "tic_tac_toe": _tic_tac_toe,
    "kuhn_poker": _kuhn_poker,
    "catch": _catch,
    "cliff_walking": _cliff_walking,
}
