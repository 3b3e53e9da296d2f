"""What a caller is told: of an answer, whose parts may be lies, or of there being none."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator

from openenv.executor.exchange import Exchange, Loss
from openenv.executor.limits import ExecutorLimits
from openenv.executor.result import Artefact, CodeError, CodeResult
from openenv.executor.wire import Fault, Found, Outcome, cut
from openenv.runtime.offspring import Death

TIMED_OUT = 124
KILLED = 137
SIGNALLED = 128
UNKNOWN_KIND = "application/octet-stream"


def of_outcome(outcome: Outcome, exchange: Exchange, limits: ExecutorLimits) -> CodeResult:
    """The result where there is an answer."""
    error = None if outcome.fault is None else _error(outcome.fault)
    value, is_cut = cut(outcome.value or "", limits.output_bytes)
    artefacts = tuple(_artefacts(outcome.found[: limits.artefacts], limits.artefact_bytes))
    cuts = {
        "stdout": exchange.stdout.is_cut,
        "stderr": exchange.stderr.is_cut,
        "value": is_cut or "value" in outcome.truncated,
        "artefacts": len(artefacts) < len(outcome.found) or "artefacts" in outcome.truncated,
    }
    return CodeResult(
        stdout=exchange.stdout.text,
        stderr=exchange.stderr.text + (error.traceback if error else ""),
        exit_code=outcome.exit_code,
        value=None if outcome.value is None else value,
        error=error,
        out_of_memory=outcome.out_of_memory,
        truncated=tuple(name for name, is_cut in cuts.items() if is_cut),
        artefacts=artefacts,
    )


def of_loss(loss: Loss, exchange: Exchange, death: Death | None, patience: float) -> CodeResult:
    """The result where there is no answer, and the interpreter has ended."""
    exchange.drain()
    cuts = {"stdout": exchange.stdout.is_cut, "stderr": exchange.stderr.is_cut}
    error, code = _ended(loss, death, patience)
    return CodeResult(
        stdout=exchange.stdout.text,
        stderr=exchange.stderr.text + (error.traceback if error else ""),
        exit_code=code,
        error=error,
        timed_out=loss is Loss.TIMEOUT,
        out_of_memory=death is not None and death.is_for_memory,
        truncated=tuple(name for name, is_cut in cuts.items() if is_cut),
    )


def _ended(loss: Loss, death: Death | None, patience: float) -> tuple[CodeError | None, int]:
    if loss is Loss.TIMEOUT:
        return _own_error("Timeout", f"the code ran longer than {patience:g} s"), TIMED_OUT
    if loss is not Loss.DEATH or death is None:
        return _own_error("Killed", loss.value), KILLED
    if death.code == 0:
        return None, 0
    code = death.code if death.code > 0 else SIGNALLED - death.code
    return _own_error("Killed", f"{loss.value}: {death.cause}"), code


def _own_error(kind: str, why: str) -> CodeError:
    message = f"{why}; its variables and files are gone"
    return CodeError(type=kind, message=message, traceback=f"{kind}: {message}\n")


def _error(fault: Fault) -> CodeError:
    return CodeError(
        type=fault.type, message=fault.message, line=fault.line, traceback=fault.traceback
    )


def _artefacts(found: Iterable[Found], left: int) -> Iterator[Artefact]:
    """Those whose names are none that lead elsewhere, once they are files somewhere."""
    for each in found:
        left -= len(each.content)
        parts = each.name.split("/")
        if left >= 0 and each.name.isprintable() and not {"", ".", ".."}.intersection(parts):
            kind = mimetypes.guess_type(f"./{each.name}")[0] or UNKNOWN_KIND  # no data: URL
            yield Artefact(name=each.name, mime_type=kind, content=each.content)
