"""What an agent writes, and what comes of running it."""

from __future__ import annotations

from base64 import b64decode

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from openenv import Action, Observation, State

MAX_CODE = 100_000
"""Characters of one action's code; a syntax tree of that much can still be read safely."""

ASKED: JsonDict = {"minLength": 1}
"""What a form asks for. An agent without an answer may send none: that is a step like any other."""


class CodeAction(Action):
    """A piece of Python to run.

    Attributes:
        code: statements and expressions, at most 100 000 characters. Names that it defines are
            there in the episode's later steps.
    """

    code: str = Field(
        max_length=MAX_CODE,
        examples=["print(6 * 7)", "x = 3\nx ** 2"],
        json_schema_extra=ASKED,
    )


class CodeError(BaseModel):
    """Why a piece of code did not run to its end.

    Attributes:
        type: the exception's class, as in `ZeroDivisionError`; `Timeout` and `Killed` are of the
            sandbox.
        message: what it says.
        line: the line of this step's code, from 1; `None` where there is none.
    """

    model_config = ConfigDict(extra="forbid")

    type: str
    message: str = ""
    line: int | None = None


class Artefact(BaseModel):
    """A figure that the code drew, or a file that it wrote.

    Attributes:
        name: `figure-1.png`, or the file's path relative to the working directory.
        mime: its kind, as in `image/png`.
        base64: the bytes in it, in standard base64.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    mime: str = "application/octet-stream"
    base64: str = ""

    @property
    def content(self) -> bytes:
        """The bytes in it."""
        return b64decode(self.base64)


class CodeObservation(Observation):
    """What running a piece of code gave.

    Attributes:
        stdout: what it printed, and below that the `value`, if there is one.
        stderr: what it wrote there, and the traceback of an exception through its own lines.
        exit_code: 0; 1 after an exception; n of `sys.exit(n)`; 124 if its time was over; 128 + n
            if signal n killed it, so 137 for want of memory.
        value: what the code's last line is worth if it is an expression and not `None`: as JSON
            where JSON has such a value, as `repr` writes it otherwise.
        error: why the code did not run to its end, `None` if it did.
        timed_out: its time was over.
        out_of_memory: it wanted more memory than it may have.
        restarted: the interpreter was replaced: what earlier steps defined is gone.
        output_truncated: it printed more than is shown, or its value is longer.
        artefacts_truncated: it made more figures and files than are given back, or larger ones.
        artefacts: figures that it drew, and files that it wrote to its working directory.
        text: all of this as a language model reads it.
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    value: str | None = None
    error: CodeError | None = None
    timed_out: bool = False
    out_of_memory: bool = False
    restarted: bool = False
    output_truncated: bool = False
    artefacts_truncated: bool = False
    artefacts: list[Artefact] = Field(default_factory=list)
    text: str = ""


class CodeState(State):
    """Where an episode stands.

    Attributes:
        last_exit_code: that of the last step, 0 before the first.
    """

    last_exit_code: int = 0
