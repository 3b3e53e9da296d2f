"""What a seat is called in a game, and what it may be paid."""

from __future__ import annotations

from functools import cache

from openspiel_env.server.engine import pyspiel
from openspiel_env.server.games import Game

MATRIX = "matrix_"
_CHESS = ("antichess", "chess", "crazyhouse", "dark_chess", "kriegspiel", "rbc", "breakthrough")
_CROSSES = (
    "backgammon",
    "connect_four",
    "dark_hex",
    "dark_hex_ir",
    "hex",
    "latent_ttt",
    "lines_of_action",
    "mnk",
    "phantom_ttt",
    "phantom_ttt_ir",
    "twixt",
    "ultimate_tic_tac_toe",
)
SIDES = {
    **dict.fromkeys(_CHESS, ("black", "white")),
    **dict.fromkeys(_CROSSES, ("x", "o")),
    **dict.fromkeys(("go", "phantom_go"), ("black, X", "white, O")),
    **dict.fromkeys(("havannah", "pentago", "y"), ("O", "@")),
    "amazons": ("X", "O"),
    "checkers": ("o", "+"),
    "clobber": ("o", "x"),
    "gomoku": ("black, b", "white, w"),
    "hive": ("white", "black"),
    "nine_mens_morris": ("white, W", "black, B"),
    "othello": ("black, x", "white, o"),
    "quoridor": ("0", "@"),
}
"""The colours or marks of seats 0 and 1, which the boards show and do not explain."""


def seat(game: Game) -> str:
    """Who the agent is, and what a whole game may pay."""
    agent = game.options.agent_player
    sides = SIDES.get(game.name)
    who = f"you are player {agent}" if game.engine.num_players() > 1 else "you play alone"
    mark = f" ({sides[agent]})" if sides else ""
    least, most = game.engine.min_utility(), game.engine.max_utility()
    paid = f"{who}{mark}; the game pays {least:g} to {most:g}"
    return f"{paid}\n{payoffs(game.name, agent)}" if game.name.startswith(MATRIX) else paid


@cache
def payoffs(name: str, agent: int) -> str:
    """What a matrix game pays, in a line for each of the agent's actions."""
    game = pyspiel.load_matrix_game(name)
    rows = [game.row_action_name(row) for row in range(game.num_rows())]
    columns = [game.col_action_name(column) for column in range(game.num_cols())]
    pays = {
        (row, column): (game.row_utility(at, to), game.col_utility(at, to))
        for at, row in enumerate(rows)
        for to, column in enumerate(columns)
    }
    mine, others = (rows, columns) if agent == 0 else (columns, rows)
    lines = []
    for own in mine:
        paid = [pays[(own, other) if agent == 0 else (other, own)] for other in others]
        told = [
            f"{both[agent]:g}, {both[1 - agent]:g} against {other}"
            for both, other in zip(paid, others, strict=True)
        ]
        lines.append(f"{own}: {'; '.join(told)}")
    return "\n".join(["both choose at once; paid to you, and to the other:", *lines])
