"""From the rounds' numbers to medians, goals and Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Rounds = Mapping[str, Sequence[Mapping[str, float]]]
Summary = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Goal:
    """What we want of `ours`: a limit, or a limit in multiples of what `theirs` has."""

    title: str
    metric: str
    ours: str
    limit: float
    theirs: str | None = None
    at_least: bool = False

    @property
    def wanted(self) -> str:
        """The limit, as a reader sees it."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{' × peer' if self.theirs else ''}"

    def reached(self, value: float) -> bool:
        """Whether `value` is good enough."""
        return value >= self.limit if self.at_least else value <= self.limit

    def values(self, rounds: Rounds) -> list[float]:
        """What each round measured: the metric, or its ratio; none if somebody didn't take part."""
        ours = column(rounds, self.ours, self.metric)
        if self.theirs is None:
            return ours
        theirs = column(rounds, self.theirs, self.metric)
        return [one / other for one, other in zip(ours, theirs, strict=False)]

    def at_best(self, rounds: Rounds) -> float:
        """The same of the best rounds."""
        best = max if self.at_least else min
        ours = best(column(rounds, self.ours, self.metric))
        return ours / best(column(rounds, self.theirs, self.metric)) if self.theirs else ours


def column(rounds: Rounds, name: str, metric: str) -> list[float]:
    """One number of one contestant, in every round that has it."""
    return [one[metric] for one in rounds.get(name, ()) if metric in one]


GOALS = (
    Goal("inline: server CPU, 1 session", "one.server_us", "inline", 0.25, "peer"),
    Goal("inline: server CPU, 64 sessions", "many.server_us", "inline", 0.25, "peer"),
    Goal("thread: server CPU, 1 session", "one.server_us", "thread", 0.4, "peer"),
    Goal("thread: server CPU, 64 sessions", "many.server_us", "thread", 0.4, "peer"),
    Goal("inline: steps/s, 64 sessions", "many.rate", "inline", 4, "peer", at_least=True),
    Goal("sync client: round trip (p50), inline", "sync.p50_us", "inline", 0.5, "peer"),
    Goal("inline: 1,000 idle sessions, MB", "idle.idle_mb", "inline", 40),
    Goal("server start, CPU", "start.cpu_s", "inline", 0.25, "peer"),
    Goal("server start, wall", "start.wall_s", "inline", 0.25, "peer"),
    Goal("`import openenv`, CPU s", "import.openenv.cpu_s", "ours", 0.25),
    Goal("`from openenv.core import EnvClient`, CPU s", "import.client.cpu_s", "ours", 0.25),
    Goal("`openenv --help`, CPU s", "help.cpu_s", "ours", 0.4),
)

SPEED = {"rate": "steps/s", "p50_us": "p50 µs", "p99_us": "p99 µs"}
LOAD = {**SPEED, "server_us": "server CPU µs/step", "client_us": "generator CPU µs/step"}
CLIENT = {**SPEED, "client_us": "client CPU µs/step"}
TABLES = (
    ("One session, one load generator for all", "one.", LOAD),
    ("64 sessions, one load generator for all", "many.", LOAD),
    ("One session, each package's sync client", "sync.", CLIENT),
    ("One session, each package's async client", "async.", CLIENT),
    ("One session, each package's generic async client", "generic.", CLIENT),
    ("One session, the websockets library's sync client", "bare-sync.", CLIENT),
    ("One session, the websockets library's async client", "bare-async.", CLIENT),
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


def summarise(rounds: Rounds) -> Summary:
    """Median, minimum and maximum of each number over the rounds."""
    return {
        name: {
            key: {
                "median": median(one[key] for one in each),
                "min": min(one[key] for one in each),
                "max": max(one[key] for one in each),
            }
            for key in each[0]
        }
        for name, each in rounds.items()
    }


def number(value: float) -> str:
    """Three digits that matter."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cell(values: Mapping[str, float]) -> str:
    """The median, and the range the rounds had."""
    if values["min"] == values["max"]:
        return number(values["median"])
    return f"{number(values['median'])} ({number(values['min'])}–{number(values['max'])})"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def goals(rounds: Rounds) -> str:
    """Each goal beside what was measured."""
    rows = []
    for goal in GOALS:
        if values := goal.values(rounds):
            value = median(values)
            mark = "✓" if goal.reached(value) else "✗"
            rows.append(
                [goal.title, goal.wanted, f"{value:.3g}", f"{goal.at_best(rounds):.3g}", mark]
            )
    return grid(["goal", "wanted", "measured", "at best", ""], rows)


def tables(summary: Summary) -> Iterable[str]:
    """One table for each kind of number, with a row for each contestant that has them."""
    for title, prefix, columns in TABLES:
        keys = [prefix + key for key in columns]
        rows = [
            [name, *(cell(values[key]) for key in keys)]
            for name, values in summary.items()
            if keys[0] in values
        ]
        if rows:
            yield f"## {title}\n\n{grid(['', *columns.values()], rows)}"
