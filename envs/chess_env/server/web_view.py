"""A game as a web page shows it."""

from __future__ import annotations

from typing import Any

import chess

from chess_env.server.episode import Episode
from chess_env.server.game import Ending, Game
from chess_env.server.view import color_name
from openenv.env.web_html import (
    Html,
    WebAction,
    board,
    cell,
    facts,
    joined,
    notice,
    page,
    refusal,
    tag,
    text,
)

MOST_ACTIONS = 100
"""Legal moves that are listed; positions with more are made up."""
LAST_WORDS = 60
"""Words of the game's record that are shown."""
GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
AS_TEXT = "\ufe0e"
"""Tells fonts that a glyph is no emoji."""
STYLE = """
.chess { gap: 0; padding: 0; border-radius: 4px; }
.chess > span { border-radius: 0; font-size: 10.5cqw; }
.chess > .light { background: #f0d9b5; }
.chess > .dark { background: #b58863; }
.chess > .light.moved { background: #d6d977; }
.chess > .dark.moved { background: #b0a844; }
.chess > .check { background-image: radial-gradient(circle, #e4392f 20%, transparent 75%); }
.chess > .white { color: #fff; -webkit-text-stroke: .06em #1c1c1c; paint-order: stroke fill; }
.chess > .black { color: #1c1c1c; -webkit-text-stroke: .03em #e9e2d2; paint-order: stroke fill; }
.chess small { position: absolute; font: 600 max(2.4cqw, 9px)/1 system-ui, sans-serif;
  -webkit-text-stroke: 0; color: #2b1d0e; }
.chess .rank { top: 3%; left: 4%; }
.chess .file { bottom: 3%; right: 4%; }
"""


def draw(seen: dict[str, Any], episode: Episode) -> str:
    """The board as the agent sits at it, the record, and how the game ended.

    Args:
        seen: an observation.
        episode: the game that it is of.
    """
    game = episode.game
    known = {
        "You": color_name(episode.agent),
        "To move": None if game.ending else color_name(game.board.turn),
        "Move": game.board.fullmove_number,
        "Check": "yes" if seen["is_check"] else None,
    }
    record = " ".join(episode.record.numbered()[-LAST_WORDS:])
    return page(
        facts(known),
        refusal(seen),
        _board(game, episode.agent),
        notice(_verdict(game.ending), "ok"),
        text(record, "Moves", prose=True) if record else None,
        style=STYLE,
    )


def actions(game: Game) -> list[WebAction]:
    """The legal moves in SAN, those of pawns first."""
    legal = [] if game.ending else sorted(game.legal, key=lambda move: _order(game.board, move))
    return [(game.board.san(move), {"move": move.uci()}) for move in legal[:MOST_ACTIONS]]


def _order(board: chess.Board, move: chess.Move) -> tuple[int, str]:
    return board.piece_type_at(move.from_square) or 0, move.uci()


def _verdict(ending: Ending | None) -> str | None:
    if ending is None:
        return None
    how = ending.reason.replace("_", " ")
    if ending.winner is None:
        return f"A draw: {how}."
    return f"{color_name(ending.winner).capitalize()} wins: {how}."


def _board(game: Game, agent: chess.Color) -> Html:
    """The squares with the agent's side below, the outer ones with their names."""
    ranks = range(7, -1, -1) if agent else range(8)
    files = range(8) if agent else range(7, -1, -1)
    marks = _marks(game)
    rows = [
        [
            _square(
                game.board.piece_at(square := chess.square(file, rank)),
                f"{'light' if (file + rank) % 2 else 'dark'}{marks.get(square, '')}",
                tag("small", rank + 1, class_="rank") if file == files[0] else None,
                tag("small", chess.FILE_NAMES[file], class_="file") if rank == ranks[-1] else None,
            )
            for file in files
        ]
        for rank in ranks
    ]
    return board(rows, _in_words(game.board), "chess")


def _marks(game: Game) -> dict[int, str]:
    """Classes of the squares of the last move, and of a king in check."""
    last = game.moves[-1] if game.moves else None
    marks = {} if last is None else dict.fromkeys((last.from_square, last.to_square), " moved")
    king = game.board.king(game.board.turn)
    if king is not None and game.board.is_check():
        marks[king] = " check"
    return marks


def _square(piece: chess.Piece | None, kind: str, *names: Html | None) -> Html:
    if piece is None:
        return cell(joined(*names), kind)
    glyph = f"{GLYPHS[chess.piece_symbol(piece.piece_type)]}{AS_TEXT}"
    return cell(joined(*names, glyph), f"{kind} {color_name(piece.color)}")


def _in_words(position: chess.Board) -> str:
    sides = []
    for color in chess.COLORS:
        pieces = sorted(
            (-piece.piece_type, chess.square_name(square))
            for square, piece in position.piece_map().items()
            if piece.color == color
        )
        named = ", ".join(f"{chess.piece_name(-kind)} {square}" for kind, square in pieces)
        sides.append(f"{color_name(color)}: {named}")
    return f"A chessboard. {'; '.join(sides)}."
