"""Episodes of the counting environment: what is done in each, and what must come of it."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from openenv import ReplyTimeout
from openenv.testing import Add, Count, CountingClient, Tally
from tests.client.ways import Ask

LARGE_PAYLOAD_BYTES = 100_000
EXAMPLES = 5


@dataclass(frozen=True)
class Episode:
    """One episode.

    Attributes:
        number: unique in its run; the amounts are made from it, so that each says where it belongs.
        ordinal: which of its client's episodes it is, from 1.
    """

    number: int
    ordinal: int

    @property
    def tag(self) -> str:
        return f"episode-{self.number}"

    def actions(self) -> Iterator[Add]:
        dice = random.Random(self.number)
        steps = dice.randint(3, 8)
        for step in range(1, steps + 1):
            size = LARGE_PAYLOAD_BYTES if dice.random() < 0.01 else dice.randrange(200)
            yield Add(
                amount=self.number * 1000 + step,
                last=step == steps and self.number % 5 != 0,
                pause_s=dice.uniform(0.001, 0.01) if dice.random() < 0.1 else 0.0,
                payload=dice.randbytes(size),
            )

    @staticmethod
    def patience(action: Add) -> float | None:
        """How long the caller waits for a step; half of the slow ones are not waited for."""
        return action.pause_s / 2 if action.pause_s and action.amount % 2 else None

    def start(self) -> Count:
        """What must be observed after the reset."""
        return Count(count=self.number, episode=self.tag, resets=self.ordinal)

    def expected(self, actions: list[Add]) -> Count:
        """What must be observed after some actions."""
        last = actions[-1]
        return self.start().model_copy(
            update={
                "count": self.number + sum(action.amount for action in actions),
                "ordinal": len(actions),
                "payload": last.payload,
                "reward": float(last.amount),
                "done": last.last,
            }
        )


@dataclass
class Book:
    """What came of some episodes.

    Attributes:
        states: the final state of each episode, by its tag.
        lost: steps that were taken and are in no final state.
        repeated: steps that are in it more than once.
        crossed: steps in it that belong to another episode.
        wrong: answers that are not what they must be.
        errors: what was raised to the caller, by type.
        examples: the first few of all this, in words.
    """

    episodes: int = 0
    steps: int = 0
    lost: int = 0
    repeated: int = 0
    crossed: int = 0
    wrong: int = 0
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    @classmethod
    def of_all(cls, books: "Iterable[Book]") -> "Book":
        """All that is in some books."""
        whole = cls()
        for book in books:
            for name in ("episodes", "steps", "lost", "repeated", "crossed", "wrong"):
                setattr(whole, name, getattr(whole, name) + getattr(book, name))
            whole.states |= book.states
            whole.errors += book.errors
            whole.examples += book.examples
        return whole

    @property
    def clean(self) -> bool:
        """Whether everything was as it must be."""
        return not (self.lost or self.repeated or self.crossed or self.wrong or self.errors)

    def answer(self, episode: Episode, got: Count, expected: Count) -> None:
        """Notes what was observed."""
        if got != expected:
            self.wrong += 1
            self.note(f"{episode.tag}: observed {got!r} instead of {expected!r}")

    def end(self, episode: Episode, actions: list[Add], state: Tally) -> None:
        """Notes the final state of an episode."""
        self.states[episode.tag] = state.model_dump()
        sent = Counter(action.amount for action in actions)
        seen = Counter(state.amounts)
        lost, extra = sent - seen, seen - sent
        repeated = sum(extra[amount] for amount in extra if amount in sent)
        self.lost += lost.total()
        self.repeated += repeated
        self.crossed += extra.total() - repeated
        if lost or extra or state.episode_id != episode.tag:
            self.note(f"{episode.tag}: lost {dict(lost)}, too many {dict(extra)}, {state!r}")

    def error(self, episode: Episode, actions: list[Add], error: Exception) -> None:
        """Notes what ended an episode before its final state was seen."""
        self.lost += len(actions)
        self.errors[type(error).__name__] += 1
        self.note(f"{episode.tag}: {type(error).__name__}: {error}")

    def note(self, what: str) -> None:
        """Keeps the first few."""
        if len(self.examples) < EXAMPLES:
            self.examples.append(what[:500])


async def play(client: CountingClient, ask: Ask, episode: Episode, book: Book) -> None:
    """Plays one episode, whatever becomes of it.

    A step that is not waited for is taken all the same: once, and before what follows.
    """
    book.episodes += 1
    done: list[Add] = []
    try:
        result = await ask(client.reset(seed=episode.number, episode_id=episode.tag))
        book.answer(episode, result.observation, episode.start())
        for action in episode.actions():
            done.append(action)
            book.steps += 1
            patience = episode.patience(action)
            try:
                result = await ask(client.step(action, timeout_s=patience))
            except ReplyTimeout:
                if patience is None:
                    raise
            else:
                book.answer(episode, result.observation, episode.expected(done))
        book.end(episode, done, await ask(client.state()))
    except Exception as error:  # noqa: BLE001  # it is what the run is about
        book.error(episode, done, error)
