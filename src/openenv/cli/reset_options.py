"""What a command gives each reset beside the seed and the episode's name."""

from __future__ import annotations

import json
from typing import Any


def reset_options(text: str | None, option: str) -> dict[str, Any]:
    """The options that a JSON object on the command line holds; none, if there is none.

    Args:
        text: what was given.
        option: as what.

    Raises:
        UsageProblem: it is no such object.
    """
    from openenv.project.errors import UsageProblem

    try:
        options = json.loads(text or "{}", parse_constant=_refused)
    except ValueError as error:
        raise UsageProblem(f"{option} is no JSON ({error}); give an object") from error
    if not isinstance(options, dict) or options.keys() & {"seed", "episode_id"}:
        raise UsageProblem(
            f"{option} takes a JSON object, without seed and episode_id, which each episode gets "
            f"of its own; got {text}"
        )
    return options


def _refused(name: str) -> None:
    raise ValueError(f"{name} is none of its numbers")
