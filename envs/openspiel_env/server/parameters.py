"""Which parameters of games a client may choose.

OpenSpiel checks parameters in compiled code, where some of them end the process. So a client may
choose those that are known here, and only within ranges in which all of them were played. Whoever
starts the server may choose anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from openenv import errors

YES_OR_NO = (False, True)

CHOICES: dict[str, dict[str, Collection[Any]]] = {
    "2048": {"max_tile": tuple(2**power for power in range(3, 18))},
    "breakthrough": {"rows": range(4, 13), "columns": range(4, 13)},
    "catch": {"rows": range(2, 51), "columns": range(2, 51)},
    "cliff_walking": {
        "height": range(2, 21),
        "width": range(3, 21),
        "horizon": range(1, 1001),
    },
    "connect_four": {"rows": range(4, 13), "columns": range(4, 13), "x_in_row": range(3, 5)},
    "dots_and_boxes": {"num_rows": range(1, 7), "num_cols": range(1, 7)},
    "go": {"board_size": range(2, 20)},
    "goofspiel": {
        "num_cards": range(2, 14),
        "players": range(2, 5),
        "imp_info": YES_OR_NO,
        "points_order": ("random", "descending", "ascending"),
        "returns_type": ("win_loss", "point_difference", "total_points"),
    },
    "havannah": {"board_size": range(3, 11)},
    "hex": {"board_size": range(2, 20)},
    "kuhn_poker": {"players": range(2, 11)},
    "leduc_poker": {"players": range(2, 11), "suit_isomorphism": YES_OR_NO},
    "liars_dice": {"numdice": range(1, 6), "dice_sides": range(2, 11)},
    "mnk": {"m": range(3, 16), "n": range(3, 16), "k": range(3, 6)},
    "oshi_zumo": {"coins": range(1, 101), "size": range(1, 11), "horizon": range(1, 1001)},
    "pig": {"players": range(2, 5), "winscore": range(5, 201), "horizon": range(1, 1001)},
    "y": {"board_size": range(3, 20)},
}


def check(game_name: str, parameters: Mapping[str, Any]) -> None:
    """Lets a client's parameters of a game pass.

    Raises:
        InvalidRequest: one is none that a client may choose. It says what there is.
    """
    if faults := list(_faults(game_name, parameters)):
        raise errors.InvalidRequest(f"game_params of {game_name:.100}: {'; '.join(faults)}")


def _faults(game_name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    choices = CHOICES.get(game_name, {})
    for name, value in parameters.items():
        if name not in choices:
            there = ", ".join(choices) or "none; the server's own are set by OPENSPIEL_GAME_PARAMS"
            yield f"reset takes no {name[:100]!r}, there is {there}"
        elif value not in choices[name] or isinstance(value, bool) != (choices[name] is YES_OR_NO):
            yield f"{name} is {_described(choices[name])}, got {value!r:.60}"


def _described(choices: Collection[Any]) -> str:
    if isinstance(choices, range):
        return f"{choices[0]} to {choices[-1]}"
    return "one of " + ", ".join(map(repr, choices))
