"""What running a piece of code gave, as a web page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openenv.env.web_html import Html, code, facts, image, notice, page, refusal, tag, text

MOST_PICTURES = 4_000_000
"""Characters of base64 of the pictures that are drawn; of the others the names are shown."""
NOTES = {
    "timed_out": "It was stopped: its time was over.",
    "out_of_memory": "It was stopped: it wanted too much memory.",
    "restarted": "The interpreter was restarted: variables are gone.",
    "output_truncated": "The output was cut.",
    "artefacts_truncated": "It made more files than are shown.",
}
ENDED = ("Timeout", "Killed")
"""The errors of an interpreter that was ended, and not of code: they say what is gone with it."""


def draw(seen: dict[str, Any], metadata: Mapping[str, Any]) -> str:
    """The code with its wrong line marked, its output, its errors, and what it made.

    Args:
        seen: an observation.
        metadata: the same observation's: the code, and how many tests it passes.
    """
    ran = metadata.get("last_code")
    if ran is None:
        return page(text(seen["text"]))
    total = metadata.get("tests_total")
    error = seen["error"] or {}
    fault = _fault(error) if error else ""
    told = _told(error)
    stderr = seen["stderr"].removesuffix(f"{fault}\n") if "restarted" in told else seen["stderr"]
    return page(
        facts(
            {
                "Exit code": seen["exit_code"],
                "Tests": total and f"{metadata['tests_passed']} of {total} pass",
            }
        ),
        refusal(seen),
        code(ran, "Code", [error["line"]] if error else ()),
        notice(fault, "bad"),
        *[notice(NOTES[name], "bad") for name in NOTES if seen[name] and name not in told],
        text(seen["stdout"], "Output") if seen["stdout"] else None,
        text(stderr, "Errors") if stderr else None,
        *_artefacts(seen["artefacts"]),
    )


def _fault(error: Mapping[str, Any]) -> str:
    where = "" if error["line"] is None else f"Line {error['line']}: "
    what = f": {error['message']}" if error["message"] else ""
    return f"{where}{error['type']}{what}"


def _told(error: Mapping[str, Any]) -> tuple[str, ...]:
    """The notes that would only say again what the error's line says."""
    if not error:
        return ()
    ended = error["line"] is None and error["type"] in ENDED
    return ("timed_out", "out_of_memory", *["restarted"] * ended)


def _artefacts(made: Iterable[Mapping[str, Any]]) -> Iterable[Html]:
    left = MOST_PICTURES
    for artefact in made:
        name, mime, content = artefact["name"], artefact["mime"], artefact["base64"]
        if mime.startswith("image/") and len(content) <= left:
            left -= len(content)
            yield tag("figure", tag("figcaption", name), image(content, name, mime))
        else:
            yield notice(f"Made {name} ({mime}, {len(content) * 3 // 4:,} bytes).")
