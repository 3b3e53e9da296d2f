"""What running a piece of code gave."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CodeError:
    """Why a piece of code did not run to its end.

    Attributes:
        type: the exception's class, for example `ZeroDivisionError`; `Timeout` and `Killed` are of
            the executor.
        message: what it says.
        line: the line of this piece of code, from 1, where it was raised or passed through last,
            also if a function of an earlier piece raised it; `None` where there is none.
        traceback: as Python prints it, but of the caller's own code alone, at most a few kB.
    """

    type: str
    message: str
    line: int | None = None
    traceback: str = ""


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A figure that the code drew, or a file that it wrote to its working directory.

    Attributes:
        name: the file's path relative to that directory; or `figure-1.png` and so on, numbered
            through the interpreter's life.
        mime_type: guessed from the name.
        content: the bytes.
    """

    name: str
    mime_type: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class CodeResult:
    """What running a piece of code gave. Nothing of it can be trusted to be true of the code.

    Attributes:
        stdout: what was printed, also by C code and child processes, up to the limit.
        stderr: likewise; the traceback is at its end, as Python prints it.
        exit_code: as of a Python program: 0; 1 upon an exception; the code of `SystemExit`; 130
            upon `KeyboardInterrupt`; 124 when time was over; 128 + n when signal n killed the
            interpreter, so 137 for want of memory.
        value: the last expression's value, of those that are not `None`: as JSON where it can be,
            else its `repr`. Assignments have none.
        error: why it did not run to its end, `None` if it did.
        timed_out: whether its time was over.
        out_of_memory: whether it wanted more memory than it may have.
        truncated: the names of those fields here that were cut.
        artefacts: figures and files.
        restarted: the interpreter had to be replaced: by this call, or it had died before it.
            What the next one finds are no variables of earlier calls.
        duration_s: seconds that the call took.
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    value: str | None = None
    error: CodeError | None = None
    timed_out: bool = False
    out_of_memory: bool = False
    truncated: tuple[str, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    restarted: bool = False
    duration_s: float = 0.0

    @property
    def output(self) -> str:
        """What was printed, and below it the value, as an interactive Python shows them."""
        return "\n".join(part for part in (self.stdout, self.value) if part)
