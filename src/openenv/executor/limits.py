"""What one interpreter of an executor may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from openenv.protocol.errors import ConfigurationError

FRACTIONS = ("timeout_s", "cpus")
MOST = 1 << 40


@dataclass(frozen=True, kw_only=True)
class ExecutorLimits:
    """What one interpreter may use, each more than 0.

    Attributes:
        timeout_s: seconds that a call of `run` may take, tools included.
        memory_bytes: of all its processes together where control groups are writable, else of each.
        output_bytes: what is kept of each of stdout, stderr and the value; the rest is dropped.
        processes: its processes and threads.
        cpus: how many CPUs all of these may keep busy, where control groups are writable.
        files_bytes: what it may write to its directories.
        code_bytes: of one piece of code.
        artefacts: how many figures and files one call may give back.
        artefact_bytes: of those together.
        tool_calls: how often one call of `run` may call tools.
        tool_bytes: of the arguments of one tool call, and of its result, as JSON.

    Raises:
        ConfigurationError: a limit is none.
    """

    timeout_s: float = 10.0
    memory_bytes: int = 1 << 30
    output_bytes: int = 50_000
    processes: int = 32
    cpus: float = 1.0
    files_bytes: int = 64 << 20
    code_bytes: int = 1 << 20
    artefacts: int = 16
    artefact_bytes: int = 8 << 20
    tool_calls: int = 256
    tool_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kinds = (int, float) if field.name in FRACTIONS else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < MOST:
                raise ConfigurationError(
                    f"ExecutorLimits.{field.name} must be a {'' if float in kinds else 'whole '}"
                    f"number above 0, got {value!r}"
                )
