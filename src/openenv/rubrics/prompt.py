"""Prompts: a template with places for an action and an observation."""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

_PLACE = re.compile(r"\{((?:action|observation)\b[^{}]*)\}")
_NAMES = ("action", "observation")


def render(template: str, action: Any, observation: Any) -> str:
    """A template with its places filled in.

    `{action}` and `{observation}` are the places, with fields and formats as `str.format` takes
    them: `{action.message}`, `{observation!r}`. Other braces stand for themselves, so that JSON
    can be shown; in a template without any, `{{` and `}}` are braces, as `str.format` has them.
    What is filled in is never looked into for places.

    Args:
        template: the text.
        action: what `{action}` stands for.
        observation: what `{observation}` stands for.

    Raises:
        AttributeError: a place names a field that there is not.
    """
    values = {"action": action, "observation": observation}
    if _is_format(template):
        return template.format(**values)
    return _PLACE.sub(lambda place: place[0].format(**values), template)


def _is_format(template: str) -> bool:
    """Whether all braces of a template are those of `str.format`."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    except ValueError:
        return False
    return all(re.match(r"\w*", field)[0] in _NAMES for field in fields)  # type: ignore[index]
