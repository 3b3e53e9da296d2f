"""The proof of exactly once: thousands of episodes through a proxy that disturbs their frames.

    python -m tests.proofs.faults --episodes 10000

Clients that block, clients that await, and a pool play the same episodes twice: undisturbed, and
through the proxy. No step may be lost, repeated or land in another episode, no call may raise, and
every final state must be that of the undisturbed run.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from openenv.testing import Counts, FaultProxy, Faults
from tests.proofs.child import serving_counts
from tests.proofs.episodes import Book, Episode
from tests.proofs.players import await_all, block, pool

PROTOCOLS = ("v2+msgpack", "v2+json")
LEAST_SHARE = 0.05
"""The share of frames that must have been disturbed, or the run proves nothing."""

FAULTS = Faults(
    swallow=0.004,
    delay=0.02,
    duplicate=0.02,
    cut_before=0.004,
    cut_after=0.008,
    cut_inside=0.004,
    freeze=0.004,
    swallow_pings=0.1,
    refuse=0.1,
    delay_s=(0.001, 0.02),
    freeze_s=(0.05, 0.3),
)


@dataclass
class Outcome:
    """What came of a proof.

    Attributes:
        book: the disturbed run's.
        undisturbed: the other run's.
        counts: the proxy's.
        clients: how many there were.
        seconds: how long the disturbed run took.
        left: sessions that the server still held when all clients had closed.
        complaints: what the server wrote.
    """

    book: Book
    undisturbed: Book
    counts: Counts
    clients: int
    seconds: float
    left: int
    complaints: list[str]

    @property
    def differing(self) -> int:
        """Final states that are not those of the undisturbed run."""
        tags = self.book.states.keys() | self.undisturbed.states.keys()
        return sum(self.book.states.get(tag) != self.undisturbed.states.get(tag) for tag in tags)

    @property
    def faults(self) -> list[str]:
        """What is not as it must be."""
        book = self.book
        bad = {
            "steps lost": book.lost,
            "steps repeated": book.repeated,
            "steps in another episode": book.crossed,
            "wrong answers": book.wrong,
            "states that differ from the undisturbed run": self.differing,
            "errors": book.errors.total(),
            "errors in the undisturbed run": 0 if self.undisturbed.clean else 1,
            "sessions left behind": self.left,
            "lines that the server wrote": len(self.complaints),
        }
        found = [f"{what}: {count}" for what, count in bad.items() if count]
        if self.counts.share < LEAST_SHARE:
            found.append(f"too few frames disturbed: {self.counts.share:.1%}")
        return found

    def table(self) -> str:
        """The figures, one a line."""
        frames = self.counts.frames
        rows: list[tuple[str, object]] = [
            ("episodes", self.book.episodes),
            ("steps", self.book.steps),
            ("frames to the server", frames["to_server"]),
            ("frames to the clients", frames["to_client"]),
            ("frames disturbed", f"{self.counts.disturbed} ({self.counts.share:.1%})"),
            *((f"  {name}", count) for name, count in self.counts.faults.items()),
            ("reconnects", self.counts.connections - self.clients),
            ("lost steps", self.book.lost),
            ("repeated steps", self.book.repeated),
            ("cross-episode steps", self.book.crossed),
            ("wrong answers", self.book.wrong),
            ("states unlike the undisturbed run", self.differing),
            ("errors", dict(self.book.errors) or 0),
            ("sessions left behind", self.left),
            ("seconds", f"{self.seconds:.1f}"),
        ]
        return "\n".join(f"{name:<36}{value!s:>16}" for name, value in rows)


def prove(
    episodes: int,
    clients: int = 16,
    *,
    seed: int = 0,
    faults: Faults = FAULTS,
    host_kind: str = "thread",
    protocol: str | None = None,
) -> Outcome:
    """Plays the episodes undisturbed and disturbed.

    Args:
        episodes: how many, shared out among the clients.
        clients: how many; a third of them blocks, a third awaits, a third are slots of a pool.
        seed: of the faults.
        faults: what happens to the frames.
        host_kind: where the server's environments live.
        protocol: which wire the clients speak; by default what they agree on with the server.
    """
    with serving_counts(host_kind, capacity=2 * clients) as child:
        undisturbed = _run(child.url, episodes, clients, protocol)
        with FaultProxy(child.url, faults, seed) as proxy:
            began = time.monotonic()
            book = _run(proxy.url, episodes, clients, protocol)
            seconds = time.monotonic() - began
        left = int(child.health()["active_sessions"])
    return Outcome(book, undisturbed, proxy.counts, clients, seconds, left, child.complaints)


def _run(url: str, episodes: int, clients: int, protocol: str | None) -> Book:
    """Plays all episodes with so many clients at a time."""
    shares = [
        [Episode(number, at + 1) for at, number in enumerate(range(first, episodes, clients))]
        for first in range(clients)
    ]
    books: list[Book] = []

    def play(player: Callable[..., None], of_player: object) -> "Future[None]":
        books.append(Book())
        return threads.submit(player, url, of_player, books[-1], protocol)

    with ThreadPoolExecutor(clients) as threads:
        playing = [play(block, share) for share in shares[::3]]
        playing += [play(await_all, shares[1::3]), play(pool, shares[2::3])]
        for one in playing:
            one.result()
    return Book.of_all(books)


def main() -> None:
    """Proves it for each wire in turn, and says so."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=10_000, help="over all wires")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--host-kind", default="thread", choices=("inline", "thread", "process", "sandbox")
    )
    parser.add_argument("--protocols", nargs="+", default=PROTOCOLS, help="in turn")
    chosen = parser.parse_args()
    failed = False
    for wire in chosen.protocols:
        outcome = prove(
            chosen.episodes // len(chosen.protocols),
            chosen.clients,
            seed=chosen.seed,
            host_kind=chosen.host_kind,
            protocol=wire,
        )
        found = [*outcome.faults, *outcome.book.examples, *outcome.complaints[:20]]
        sys.stdout.write(
            f"{wire}, {chosen.host_kind} host\n\n{outcome.table()}\n\n"
            + "".join(f"✗ {line.rstrip()}\n" for line in found)
        )
        failed |= bool(outcome.faults)
    sys.exit(failed)


if __name__ == "__main__":
    main()
