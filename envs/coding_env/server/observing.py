"""Observations from what running code gave."""

from __future__ import annotations

from base64 import b64encode

from coding_env.models import Artefact, CodeError, CodeObservation
from openenv.executor import CodeResult


def observed(result: CodeResult) -> CodeObservation:
    """The observation of a result."""
    seen = CodeObservation(
        stdout="\n".join(text for text in (result.stdout, result.value) if text),
        stderr=result.stderr,
        exit_code=result.exit_code,
        value=result.value,
        error=_told(result),
        timed_out=result.timed_out,
        out_of_memory=result.out_of_memory,
        restarted=result.restarted,
        output_truncated=bool({*result.truncated} - {"artefacts"}),
        artefacts_truncated="artefacts" in result.truncated,
        artefacts=[
            Artefact(name=made.name, mime=made.mime_type, base64=b64encode(made.content).decode())
            for made in result.artefacts
        ],
    )
    seen.text = transcript(seen)
    return seen


def _told(result: CodeResult) -> CodeError | None:
    error = result.error
    if error is None:
        return None
    return CodeError(type=error.type, message=error.message, line=error.line)


def transcript(seen: CodeObservation) -> str:
    """What came of the code, for a language model: its output, and notes in brackets."""
    value = seen.value or ""
    parts = (seen.stdout.removesuffix(value), value, seen.stderr)
    said = [part.rstrip("\n") for part in parts if part.strip()]
    return "\n".join([*said, *_notes(seen)]) or "[no output]"


def _notes(seen: CodeObservation) -> list[str]:
    notes = {
        "the output was cut": seen.output_truncated,
        "stopped: out of time": seen.timed_out,
        "stopped: out of memory": seen.out_of_memory,
        f"exit code {seen.exit_code}": seen.exit_code != 0,
        "the interpreter was restarted: variables are gone": seen.restarted,
    }
    made = [f"made {made.name} ({made.mime})" for made in seen.artefacts]
    if seen.artefacts_truncated:
        made.append("more was made, and left out: at most 16 files, of 8 MiB together, are shown")
    return [f"[{note}]" for note in [*(text for text, holds in notes.items() if holds), *made]]
