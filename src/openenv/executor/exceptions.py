"""What an exception says of the code that was run, and of nothing else."""

from __future__ import annotations

from traceback import FrameSummary, StackSummary, TracebackException

from openenv.executor.wire import TEXT_BYTES, Fault, cut

FILE = "<cell "
"""How the name of every piece of code begins, as it is in tracebacks."""
FRAMES = 10
"""How many frames are shown, of those nearest to the beginning and to the end."""
INTERRUPTED = 130
LINKS = 4
"""How many exceptions are shown that one was raised from, or while they were handled."""


def exit_code_of(error: BaseException) -> int:
    """The exit code of a Python program that ends so."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if not isinstance(error, SystemExit):
        return 1
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def fault_of(error: BaseException) -> Fault | None:
    """What is told of an exception; `None` of a program's own end."""
    if isinstance(error, SystemExit):
        if not exit_code_of(error):
            return None
        message = cut(_text(error.code), TEXT_BYTES - 1)[0]
        printed = "" if isinstance(error.code, int) else f"{message}\n"
        return Fault("SystemExit", message, None, printed)
    told = TracebackException(type(error), error, error.__traceback__, compact=True)
    line = _line_in_its_cell(told.stack)
    if line is None and isinstance(error, SyntaxError) and isinstance(error.lineno, int):
        line = error.lineno & 0x7FFFFFFF
    _reduce(told, LINKS)
    return Fault(
        type=cut(type(error).__name__, TEXT_BYTES)[0],
        message=cut(_text(error), TEXT_BYTES)[0],
        line=line,
        traceback=_within("".join(told.format())),
    )


def _line_in_its_cell(stack: StackSummary) -> int | None:
    """The innermost line of the code that ran, not of an earlier cell whose function it called."""
    own = [frame for frame in stack if frame.filename.startswith(FILE)]
    return next((f.lineno for f in reversed(own) if f.filename == own[0].filename), None)


def _reduce(told: TracebackException, links: int) -> None:
    """Leaves the frames of the code that was run, and a few linked exceptions."""
    told.stack = StackSummary.from_list(_ends([*filter(_is_own, told.stack)]))
    if links == 0:
        told.__cause__ = told.__context__ = None
    for link in (told.__cause__, told.__context__, *(getattr(told, "exceptions", None) or ())):
        if link is not None:
            _reduce(link, links - 1)


def _is_own(frame: FrameSummary) -> bool:
    return frame.filename.startswith(FILE)


def _ends(frames: list[FrameSummary]) -> list[FrameSummary]:
    return frames if len(frames) <= 2 * FRAMES else frames[:FRAMES] + frames[-FRAMES:]


def _within(text: str) -> str:
    """A text, or its beginning and its end."""
    half = TEXT_BYTES // 2 - 8
    whole, is_cut = cut(text, TEXT_BYTES)
    if not is_cut:
        return whole
    return cut(text, half)[0] + "\n[...]\n" + cut(text[-half // 4 :], half)[0]


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001  # the code's own
        return f"<str() raised {type(error).__name__}>"
