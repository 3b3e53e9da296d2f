"""From the rounds' numbers to Markdown."""

from collections.abc import Iterable, Sequence
from statistics import median

from goals import HOST_GOALS, V1_GOALS, V2_GOALS, Goal, Results

SPEED = {"rate": "steps/s", "p50_us": "p50 µs", "p99_us": "p99 µs"}
LOAD = {**SPEED, "server_us": "server CPU µs/step", "client_us": "generator CPU µs/step"}
BATCH = {
    "rate": "steps/s",
    "per_core": "steps/s per server core",
    "server_us": "server CPU µs/step",
    "p50_us": "p50 µs of a frame",
}
BYTES = {**LOAD, "bytes_in": "bytes in", "bytes_out": "bytes out"}
CLIENT = {**SPEED, "client_us": "client CPU µs/step"}
TABLES = (
    *(
        (f"{count:,} {'session' if count == 1 else 'sessions'}", f"sessions.{count}.", LOAD)
        for count in (1, 16, 64, 256, 1024)
    ),
    (
        "1,024 sessions at half load (open loop)",
        "sessions.1024.",
        {
            "half_asked": "steps/s asked",
            "half_rate": "steps/s",
            "half_p50_us": "p50 µs",
            "half_p99_us": "p99 µs",
        },
    ),
    *((f"BlackJack, K = {k}", f"batch.{k}.", BATCH) for k in (1, 8, 64, 256)),
    (
        "In process, no server",
        "",
        {
            f"{workload}.{kind}_us": f"{workload}: {about} µs/step"
            for workload in ("hello", "blackjack", "frame")
            for kind, about in (("direct", "bare calls"), ("session", "with the runtime"))
        },
    ),
    ("Frames of 210×160×3 bytes", "frame.", BYTES),
    *(
        (f"Messages of {size}", f"message.{count}.", BYTES)
        for size, count in (
            ("1 KB", 1_000),
            ("10 KB", 10_000),
            ("100 KB", 100_000),
            ("1 MB", 1_000_000),
            ("10 MB", 10_000_000),
        )
    ),
    ("One session, each package's sync client", "sync.", CLIENT),
    ("One session, each package's async client", "async.", CLIENT),
    ("One session, each package's generic async client", "generic.", CLIENT),
    ("One session, the websockets library's sync client", "bare-sync.", CLIENT),
    ("One session, the websockets library's async client", "bare-async.", CLIENT),
    (
        "64 games of BlackJack: our EnvPool, the peer's async clients together",
        "games.",
        {
            "rate": "steps/s",
            "p50_us": "p50 µs of 64 steps",
            "p99_us": "p99 µs of 64 steps",
            "client_us": "client CPU µs/step",
        },
    ),
    (
        "Steps whose connection is cut under them, our sync client",
        "resume.",
        {"p50_ms": "p50 ms", "p99_ms": "p99 ms", "max_ms": "longest ms"},
    ),
    (
        "Sessions that wait",
        "idle.",
        {
            "open_us": "connect + reset µs",
            "sessions": "sessions held",
            "empty_mb": "RSS without MB",
            "idle_mb": "added by them MB",
            "kb_each": "KB each",
        },
    ),
    (
        "A session's host, no socket",
        "host.",
        {
            "step_us": "step p50 µs",
            "open_p50_ms": "open p50 ms",
            "open_p99_ms": "open p99 ms",
            "close_p50_ms": "close p50 ms",
        },
    ),
    ("A session in a process of its own", "host.", {"private_mb": "private MiB"}),
    ("Server start to the first healthy answer", "start.", {"cpu_s": "CPU s", "wall_s": "wall s"}),
    (
        "Imports and the command line",
        "",
        {
            "import.openenv.cpu_s": "`import openenv` CPU s",
            "import.openenv.modules": "modules",
            "import.client.cpu_s": "`from openenv.core import EnvClient` CPU s",
            "import.client.modules": "modules",
            "help.cpu_s": "`openenv --help` CPU s",
        },
    ),
)


def number(value: float) -> str:
    """Three digits that matter."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(values: Sequence[float]) -> str:
    """The median, and the range the rounds had."""
    least, most = number(min(values)), number(max(values))
    middle = number(median(values))
    return middle if least == most else f"{middle} ({least}–{most})"


def grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    written = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in written)


def goals(results: Results) -> str:
    """Each goal beside what was measured."""

    def line(goal: Goal, values: Sequence[float]) -> list[str]:
        mark = "✓" if goal.reached(median(values)) else "✗"
        return [goal.title, goal.wanted, cell(values), number(goal.at_best(results)), mark]

    def section(title: str, wanted: Sequence[Goal]) -> str:
        head = ["goal", "wanted", "measured", "at best", ""]
        measured = ((goal, goal.values(results)) for goal in wanted)
        lines = [line(goal, values) for goal, values in measured if values]
        return f"## {title}\n\n{grid(head, lines)}"

    sections = ("Goals", V2_GOALS), ("Goals of hosts", HOST_GOALS), ("Goals of wire v1", V1_GOALS)
    return "\n\n".join(section(title, wanted) for title, wanted in sections)


def tables(results: Results) -> Iterable[str]:
    """One table for each kind of number, with a row for each contestant that has them."""
    for title, prefix, columns in TABLES:
        keys = [prefix + key for key in columns]
        lines = [
            [name, *(cell(values[key]) for key in keys)]
            for name, values in results.items()
            if keys[0] in values
        ]
        if lines:
            yield f"## {title}\n\n{grid(['', *columns.values()], lines)}"
