"""A text game as a web page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Any

from openenv.env.web_html import Html, board, cell, facts, in_words, page, refusal, said, text
from textarena_env import wordle
from textarena_env.models import GAME_ID, TextArenaState

MOST_MESSAGES = 50
"""The last messages of a game that are shown."""
MEANINGS = {wordle.GREEN: "right", wordle.YELLOW: "elsewhere", wordle.GREY: "absent"}
"""What a mark says of its letter, the best one first."""
STYLE = """
.letters { background: none; gap: 5px; padding: 0; }
.letters > span { border: 2px solid var(--border); border-radius: 4px; font-weight: 700;
  text-transform: uppercase; font-size: calc(50cqw / var(--columns)); }
.keys { width: min(100%, 24rem); gap: 3px; }
:is(.letters > span, .keys > span):is(.right, .elsewhere, .absent) { border: 0; color: #fff; }
:is(.letters, .keys) > .right { background: #2f7d3b; }
:is(.letters, .keys) > .elsewhere { background: #8d6b00; }
:is(.letters, .keys) > .absent { background: #5a6068; }
"""


def draw(seen: dict[str, Any], state: TextArenaState) -> str:
    """What the player knows of the game.

    Args:
        seen: an observation.
        state: where the game stands.
    """
    known = {"Game": state.env_id, "Turn": state.turn, "Player": seen["current_player_id"]}
    rules = text(seen["prompt"], "The game", prose=True)
    most = state.raw_state.get("num_guesses")
    if most is None:
        shown = [rules, *_talk(seen, MOST_MESSAGES)]
    else:
        guesses = state.raw_state["guesses"]
        shown = [_letters(guesses, most), _keys(guesses), *_talk(seen, 1), rules]
    return page(facts(known), refusal(seen), *shown, style=STYLE)


def _letters(guesses: Sequence[Sequence[str]], most: int) -> Html:
    """Wordle's guesses, and lines for those that are left."""
    rows = [
        [cell(letter, MEANINGS[mark]) for letter, mark in zip(guess, marks, strict=True)]
        for guess, marks in guesses
    ]
    rows += [[cell()] * wordle.LENGTH] * (most - len(rows))
    words = [
        [f"{letter} {MEANINGS[mark]}" for letter, mark in zip(guess, marks, strict=True)]
        for guess, marks in guesses
    ]
    return board(rows, in_words(words) or "no guess yet", "letters")


def _keys(guesses: Iterable[Sequence[str]]) -> Html:
    """What is known of each letter of the alphabet, a half of it in a row."""
    best: dict[str, str] = {}
    for guess, marks in guesses:
        for letter, mark in zip(guess, marks, strict=True):
            best[letter] = min(best.get(letter, mark), mark, key=list(MEANINGS).index)
    kinds = {letter: MEANINGS[mark] for letter, mark in best.items()}
    drawn = [cell(letter, kinds.get(letter, "")) for letter in ascii_lowercase]
    known = [f"{letter} {kind}" for letter, kind in sorted(kinds.items())]
    label = f"What is known of letters: {', '.join(known) or 'nothing yet'}"
    return board([drawn[:13], drawn[13:]], label, "letters keys")


def _talk(seen: dict[str, Any], most: int) -> list[Html]:
    """The last of what was said after the prompt."""
    messages = [message for message in seen["messages"] if message["category"] != "PROMPT"]
    return [_said(message, seen["current_player_id"]) for message in messages[-most:]]


def _said(message: dict[str, Any], player: int) -> Html:
    sender = message["sender_id"]
    who = "The game" if sender == GAME_ID else f"Player {sender}"
    return said(who, message["content"], mine=sender == player)
