"""The Wordle that needs neither TextArena nor a network."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from openenv import errors
from textarena_env import wordle
from textarena_env.models import GAME_ID, TextArenaMessage
from textarena_env.server.game import Answer
from textarena_env.server.options import TextArenaOptions

GUESSES = 6
MOST_GUESSES = 20
PLAYER = 0

RULES = (
    "You are playing Wordle. A secret word of {length} letters has been chosen, and you have "
    "{guesses} guesses.\n"
    "Write each guess in square brackets, as in [crane]. It is answered with a mark for each "
    "letter:\n"
    "  G (green): the letter is right, and in its place\n"
    "  Y (yellow): the letter is in the word, and in another place\n"
    "  X (grey): the letter is not in the word, or not once more\n"
    "A guess is an English word that you have not tried yet. What is your first one?"
)


class WordleGame:
    """A game of Wordle.

    A guess that is no word, or was made before, is not taken and costs no guess.

    Attributes:
        guesses: the guesses that were taken, with their marks.
    """

    def __init__(self, options: TextArenaOptions, seed: int) -> None:
        """Chooses a word.

        Raises:
            InvalidRequest: the options are not Wordle's.
        """
        chosen = _Chosen(options)
        self._secret = random.Random(f"wordle {seed}").choice(chosen.secrets)
        self._most = chosen.guesses
        self._won = False
        self._messages = [_told("PROMPT", RULES.format(length=wordle.LENGTH, guesses=self._most))]
        self.guesses: list[tuple[str, str]] = []

    @property
    def current_player(self) -> int:
        """The only player."""
        return PLAYER

    @property
    def turn(self) -> int:
        """Guesses that were taken."""
        return len(self.guesses)

    @property
    def over(self) -> bool:
        """Whether the word was guessed, or no guess is left."""
        return self._won or self.turn >= self._most

    @property
    def messages(self) -> list[TextArenaMessage]:
        """The rules, the guesses and their marks."""
        return list(self._messages)

    @property
    def open_state(self) -> dict[str, Any]:
        """The guesses and their marks."""
        return {"guesses": [list(guess) for guess in self.guesses], "num_guesses": self._most}

    def say(self, message: str) -> Answer:
        """Takes a guess. The secret pays 1; the last wrong one pays what it has found of it."""
        guess = wordle.guess_in(message)
        if error := self._fault(guess):
            return Answer(error=error, moved=False)
        assert guess is not None, "a message without a guess has a fault"
        given = wordle.marks(guess, self._secret)
        self.guesses.append((guess, given))
        self._won = guess == self._secret
        self._messages.append(
            TextArenaMessage(sender_id=PLAYER, content=message, category="PLAYER_ACTION")
        )
        self._messages.append(_told("GAME_MESSAGE", self._feedback(guess, given)))
        return Answer(reward=wordle.completion(given) if self.over else 0.0)

    def _fault(self, guess: str | None) -> str | None:
        if guess is None:
            return "there is no word in square brackets; write a guess like [crane]"
        if len(guess) != wordle.LENGTH:
            return f"[{guess:.40}] has {len(guess)} letters; a guess has {wordle.LENGTH}"
        if any(guess == made for made, _ in self.guesses):
            return f"[{guess}] was guessed before; make another guess"
        if guess not in words("guesses"):
            return f"[{guess}] is not in the list of words; guess a common English word"
        return None

    def _feedback(self, guess: str, given: str) -> str:
        marks = f"Feedback:\n{' '.join(guess.upper())}\n{' '.join(given)}"
        return f"You guessed [{guess}].\n{marks}\n{self._outlook()}"

    def _outlook(self) -> str:
        if self._won:
            return "That is the secret word. You have won."
        if self.over:
            return f"No guess is left. The secret word was [{self._secret}]."
        left = self._most - self.turn
        return f"You have {left} guess{'es' if left > 1 else ''} left."


class _Chosen:
    """What options say about Wordle; the parameters are named as in TextArena."""

    def __init__(self, options: TextArenaOptions) -> None:
        if options.num_players != 1:
            raise errors.InvalidRequest(f"Wordle has 1 player, got {options.num_players}")
        given = {"num_guesses": GUESSES, "word_length": wordle.LENGTH, "hardcore": False}
        _check(options.env_kwargs, given)
        given.update(options.env_kwargs)  # type: ignore[arg-type]  # they were checked
        self.guesses = int(given["num_guesses"])
        self.secrets = sorted(words("guesses" if given["hardcore"] else "answers"))


def _check(given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    faults = []
    for name, value in given.items():
        if name not in known:
            faults.append(f"no parameter {name:.100}, there is {', '.join(known)}")
        elif type(value) is not type(known[name]):
            faults.append(f"{name} is like {known[name]!r}, got {value!r:.60}")
        elif name == "word_length" and value != wordle.LENGTH:
            faults.append(f"word_length is {wordle.LENGTH}, got {value!r:.60}")
        elif name == "num_guesses" and not 1 <= value <= MOST_GUESSES:
            faults.append(f"num_guesses is 1 to {MOST_GUESSES}, got {value!r:.60}")
    if faults:
        raise errors.InvalidRequest(f"env_kwargs of Wordle: {'; '.join(faults)}")


@cache
def words(name: str) -> frozenset[str]:
    """One of the lists of words: `answers`, or the larger `guesses`."""
    file = resources.files("textarena_env") / "words" / f"{name}.txt"
    return frozenset(file.read_text(encoding="ascii").split())


def _told(category: str, content: str) -> TextArenaMessage:
    return TextArenaMessage(sender_id=GAME_ID, content=content, category=category)
