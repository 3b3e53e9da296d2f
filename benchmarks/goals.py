"""What this package is meant to reach, beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contestants import IN_PROCESS

Results = Mapping[str, Mapping[str, Sequence[float]]]
"""Who, which number, and its value in each round."""


@dataclass(frozen=True)
class Goal:
    """What we want of `ours`: a limit, or a limit in multiples of another number.

    The other one is the same `metric` of `theirs`, or `their_metric` of theirs or of ours.
    """

    title: str
    metric: str
    ours: str
    limit: float
    theirs: str = ""
    their_metric: str = ""
    unit: str = ""
    at_least: bool = False

    @property
    def wanted(self) -> str:
        """The limit, as a reader sees it."""
        beside = f" × {self.unit or self.theirs}" if self.other else ""
        return f"{'≥' if self.at_least else '≤'} {self.limit:.3g}{beside}"

    @property
    def other(self) -> tuple[str, str] | None:
        """Who and what it is measured in, if in multiples of anything."""
        if not (self.theirs or self.their_metric):
            return None
        return self.theirs or self.ours, self.their_metric or self.metric

    def reached(self, value: float) -> bool:
        """Whether `value` is good enough."""
        return value >= self.limit if self.at_least else value <= self.limit

    def values(self, results: Results) -> Sequence[float]:
        """What each round measured: the metric, or its ratio; none if somebody didn't take part."""
        ours = column(results, self.ours, self.metric)
        if self.other is None:
            return ours
        theirs = column(results, *self.other)
        return [one / other for one, other in zip(ours, theirs, strict=False)]

    def at_best(self, results: Results) -> float:
        """The same of the best rounds of both sides."""
        best = max if self.at_least else min
        ours = best(column(results, self.ours, self.metric))
        return ours / best(column(results, *self.other)) if self.other else ours


def column(results: Results, name: str, metric: str) -> Sequence[float]:
    """One number of one contestant, in every round that has it."""
    return results.get(name, {}).get(metric, ())


CPU_1, CPU_64 = "sessions.1.server_us", "sessions.64.server_us"
RATE_64, RATE_1024 = "sessions.64.rate", "sessions.1024.rate"
V2_GOALS = (
    Goal("v2: server CPU, 1 session", CPU_1, "v2", 1 / 8, "peer"),
    Goal("v2: server CPU, 64 sessions", CPU_64, "v2", 1 / 8, "peer"),
    Goal("v2: server CPU, 1 session", CPU_1, "v2", 2.5, "picows"),
    Goal("v2: server CPU, 64 sessions", CPU_64, "v2", 2.5, "picows"),
    Goal("v2: server CPU, 64 sessions", CPU_64, "v2", 2.5, IN_PROCESS, "hello.direct_us"),
    Goal(
        "v2: server CPU, BlackJack, K = 64",
        "batch.64.server_us",
        "v2",
        2.5,
        IN_PROCESS,
        "blackjack.direct_us",
    ),
    Goal(
        "v2: steps/s per server core, BlackJack, K = 64",
        "batch.64.per_core",
        "v2",
        40,
        "peer",
        at_least=True,
    ),
    Goal("v2: 210×160×3 frames/s", "frame.rate", "v2", 30, "peer", at_least=True),
    Goal(
        "v2: 210×160×3 frames/s per server core", "frame.per_core", "v2", 30, "peer", at_least=True
    ),
    Goal("sync client, v2: round trip (p50)", "sync.p50_us", "v2", 1 / 3, "peer"),
    Goal(
        "v2, 1,024 sessions, half load: p99",
        "sessions.1024.half_p99_us",
        "v2",
        4,
        their_metric="sessions.1024.half_p50_us",
        unit="p50",
    ),
    Goal(
        "v2: steps/s, 1,024 sessions",
        RATE_1024,
        "v2",
        0.8,
        their_metric=RATE_64,
        unit="64 sessions",
        at_least=True,
    ),
    Goal(
        "v2: threads, 1,024 sessions",
        "sessions.1024.threads",
        "v2",
        1,
        their_metric="sessions.1.threads",
        unit="1 session",
    ),
    Goal("v2: step whose connection is cut, p99 ms", "resume.p99_ms", "v2", 100),
)
HOST_GOALS = (
    Goal("sandbox: open a session, p50 ms", "host.open_p50_ms", "sandbox host", 25),
    Goal("sandbox: open a session, p99 ms", "host.open_p99_ms", "sandbox host", 60),
    Goal("sandbox: private memory of a session, MiB", "host.private_mb", "sandbox host", 10),
    Goal("sandbox: step (p50)", "host.step_us", "sandbox host", 2, "thread host"),
)
V1_GOALS = (
    Goal("inline: server CPU, 1 session", CPU_1, "inline", 0.25, "peer"),
    Goal("inline: server CPU, 64 sessions", CPU_64, "inline", 0.25, "peer"),
    Goal("thread: server CPU, 1 session", CPU_1, "thread", 0.4, "peer"),
    Goal("thread: server CPU, 64 sessions", CPU_64, "thread", 0.4, "peer"),
    Goal("inline: steps/s, 64 sessions", RATE_64, "inline", 4, "peer", at_least=True),
    Goal("sync client, v1: round trip (p50)", "sync.p50_us", "inline", 0.5, "peer"),
    Goal("inline: 1,000 idle sessions, MB", "idle.idle_mb", "inline", 40),
    Goal("server start, CPU", "start.cpu_s", "inline", 0.25, "peer"),
    Goal("server start, wall", "start.wall_s", "inline", 0.25, "peer"),
    Goal("`import openenv`, CPU s", "import.openenv.cpu_s", "ours", 0.25),
    Goal("`from openenv.core import EnvClient`, CPU s", "import.client.cpu_s", "ours", 0.25),
    Goal("`openenv --help`, CPU s", "help.cpu_s", "ours", 0.4),
)
