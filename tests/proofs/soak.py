"""The soak: clients of every kind for minutes on end, and nothing may grow.

    python -m tests.proofs.soak --minutes 5

The server is a process of its own; the clients, and the proxy that disturbs some of them, are in
this one. Memory, threads and open files of both are sampled all the time. After a first quarter to
warm up they must stay flat, and when the clients have gone nothing of theirs may be left.
"""

import argparse
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from openenv.testing import FaultProxy, Faults
from tests.proofs import players
from tests.proofs.child import Child, serving_counts
from tests.proofs.episodes import Book, Episode

SAMPLES = 400
PATIENCE_S = 30.0
RESUME_GRACE_S = 2.0
"""How long the server keeps the sessions of clients that were given up without a word."""

FAULTS = Faults(
    delay=0.02, duplicate=0.01, cut_before=0.005, cut_after=0.005, freeze=0.002, refuse=0.05
)


@dataclass(frozen=True)
class Usage:
    """What a process holds.

    Attributes:
        rss_mb: resident memory, MB.
        threads: threads.
        files: open file descriptors.
    """

    rss_mb: float
    threads: float
    files: float

    @classmethod
    def of(cls, pid: int | str) -> "Usage":
        """That of a process."""
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )
        return cls(
            int(status["VmRSS"].split()[0]) / 1024,
            int(status["Threads"]),
            len(list(Path(f"/proc/{pid}/fd").iterdir())),
        )

    @classmethod
    def middle(cls, samples: "list[Usage]") -> "Usage":
        """The median of each."""
        names = ("rss_mb", "threads", "files")
        return cls(*(median(getattr(one, name) for one in samples) for name in names))


@dataclass(frozen=True)
class Growth:
    """How much may be added to one kind of usage between the second quarter and the last."""

    share: float
    amount: float

    def allows(self, before: float, after: float) -> bool:
        """Whether it is flat enough."""
        return after <= before * (1 + self.share) + self.amount


ALLOWED: Mapping[str, Growth] = {
    "rss_mb": Growth(0.03, 3.0),
    "threads": Growth(0.1, 2.0),
    "files": Growth(0.1, 4.0),
}


@dataclass
class Samples:
    """Usage over time, of the server and of the clients' process."""

    server: list[Usage] = field(default_factory=list)
    clients: list[Usage] = field(default_factory=list)

    def take(self, child: Child) -> None:
        """Takes one of each."""
        self.server.append(Usage.of(child.pid))
        self.clients.append(Usage.of("self"))

    def rows(self) -> list[tuple[str, list[float], bool]]:
        """For each kind of usage: the medians of the four quarters, and whether they are flat."""
        rows = []
        for process, samples in (("server", self.server), ("clients", self.clients)):
            size = max(len(samples) // 4, 1)
            quarters = [Usage.middle(samples[at * size : (at + 1) * size]) for at in range(4)]
            for name, growth in ALLOWED.items():
                values = [float(getattr(quarter, name)) for quarter in quarters]
                rows.append((f"{process} {name}", values, growth.allows(values[1], values[3])))
        return rows


Play = Callable[[str, Iterator[Episode], Book], None]


class Soak:
    """All the clients, each kind in a thread of its own."""

    def __init__(self, url: str, disturbed_url: str) -> None:
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self.books: dict[str, Book] = {}
        self._threads: list[threading.Thread] = []
        for name, address in (("", url), ("disturbed ", disturbed_url)):
            self._add(f"{name}blocking", players.block, address)
            self._add(f"{name}awaiting", self._four(players.await_all), address)
            self._add(f"{name}pool", self._four(players.pool), address)
            self._add(f"{name}anew", players.anew, address)
        self._add("given up", players.give_up, url)
        self._add("cancelled", players.cancel, url)
        self._add("http", players.ask_over_http, url)

    def start(self) -> None:
        """Begins."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Ends each client after its episode."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    @property
    def broken(self) -> list[str]:
        """What went wrong for whom."""
        alive = [f"{thread.name}: did not end" for thread in self._threads if thread.is_alive()]
        unclean = [
            f"{name}: {book.examples}" for name, book in self.books.items() if not book.clean
        ]
        idle = [f"{name}: no episode" for name, book in self.books.items() if not book.episodes]
        return alive + unclean + idle

    def _add(self, name: str, play: Play, url: str) -> None:
        book = self.books[name] = Book()

        def run() -> None:
            try:
                play(url, self._episodes(book), book)
            except Exception as error:  # noqa: BLE001  # it is told at the end
                book.errors[type(error).__name__] += 1
                book.note(repr(error))

        self._threads.append(threading.Thread(target=run, name=name, daemon=True))

    def _four(self, play: Callable[[str, list[Iterator[Episode]], Book], None]) -> Play:
        """Four at once of a kind that plays several shares."""
        return lambda url, episodes, book: play(
            url, [episodes, *(self._episodes(book) for _ in range(3))], book
        )

    def _episodes(self, book: Book) -> Iterator[Episode]:
        """One after the other until the end; their final states are not kept."""
        for ordinal in itertools.count(1):
            if self._stop.is_set():
                return
            yield Episode(next(self._numbers), ordinal)
            book.states.clear()


@dataclass
class Outcome:
    """What came of a soak.

    Attributes:
        seconds: how long it took.
        rows: usage, see `Samples.rows`.
        books: what each kind of client did.
        left: what was not as it must be at the end, in words.
    """

    seconds: float
    rows: list[tuple[str, list[float], bool]]
    books: dict[str, Book]
    left: list[str]

    @property
    def flat(self) -> bool:
        """Whether nothing grew."""
        return all(flat for _, _, flat in self.rows)

    def table(self) -> str:
        """The figures."""
        head = f"{'median of each quarter':<24}{'1':>9}{'2':>9}{'3':>9}{'4':>9}"
        lines = [f"{self.seconds:.0f} seconds", "", f"{'clients':<24}{'episodes':>9}{'steps':>9}"]
        lines += [f"{name:<24}{one.episodes:>9}{one.steps:>9}" for name, one in self.books.items()]
        lines += ["", head]
        for name, quarters, flat in self.rows:
            values = "".join(f"{value:>9.1f}" for value in quarters)
            lines.append(f"{name:<24}{values}  {'flat' if flat else 'GROWS'}")
        return "\n".join([*lines, "", *(f"✗ {what}" for what in self.left)])


def soak(seconds: float, host_kind: str = "thread") -> Outcome:
    """Has clients of every kind play for so long."""
    with serving_counts(host_kind, resume_grace=RESUME_GRACE_S) as child:
        before = Usage.of(child.pid)
        with FaultProxy(child.url, FAULTS) as proxy:
            clients, samples = Soak(child.url, proxy.url), Samples()
            clients.start()
            began = time.monotonic()
            while (taken := time.monotonic() - began) < seconds:
                time.sleep(seconds / SAMPLES)
                samples.take(child)
            clients.end()
        left = clients.broken + _left_behind(child, before)
    return Outcome(taken, samples.rows(), clients.books, left + child.complaints)


def _left_behind(child: Child, before: Usage) -> list[str]:
    """What the server still holds when all clients have gone for long enough."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        sessions, now = child.health()["active_sessions"], Usage.of(child.pid)
        if not sessions and now.files <= before.files + 2:
            return []
        if time.monotonic() > deadline:
            return [f"the server still holds {sessions} sessions, {now}; at first it was {before}"]
        time.sleep(0.2)


def main() -> None:
    """Soaks, and says what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument(
        "--host-kind", default="thread", choices=("inline", "thread", "process", "sandbox")
    )
    chosen = parser.parse_args()
    outcome = soak(60 * chosen.minutes, chosen.host_kind)
    sys.stdout.write(f"{outcome.table()}\n")
    sys.exit(not outcome.flat or bool(outcome.left))


if __name__ == "__main__":
    main()
