"""What is done to an environment to validate it: its own plan, or one that is made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openenv.protocol.errors import ConfigurationError
from openenv.rollout.made_up.calls import Player, made_up
from openenv.testing.trajectory import EPISODE_ID, SEED, Plan
from openenv.validation.declared import Declared

PLAN = "validation/runtime.json"
MOST_BYTES = 64 * 1024
GENERATED = 16
"""Actions that are made up where a package has no plan."""


class _Reset(BaseModel):
    model_config = ConfigDict(extra="forbid")

    episode_id: str = Field(EPISODE_ID, min_length=1, max_length=255)
    seed: int = Field(SEED, ge=0)
    options: dict[str, Any] = {}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    plan_schema_version: Literal["1"]
    reset: _Reset = Field(default_factory=lambda: _Reset.model_validate({}))
    actions: list[dict[str, Any]] = Field(min_length=1, max_length=100)


class PlanError(ConfigurationError):
    """A `validation/runtime.json` that is wrong."""


def plan_for(
    directory: Path | None,
    declared: Declared | None,
    action: dict[str, Any],
    client: Callable[[], Player],
) -> Plan:
    """The plan in a package's files; without one, actions made up from their schema.

    Args:
        directory: the package's files; `None` if there are none.
        declared: what its manifest declares.
        action: the schema of its actions.
        client: makes a client of it, to ask for its tools where actions are calls of those.

    Raises:
        PlanError: the plan is wrong.
        NoSample: there is none, and no action can be made up.
    """
    place = declared.execution.probe_path if declared and declared.execution else PLAN
    path = None if directory is None else directory / place
    if path is not None and path.is_file():
        return read_plan(path)
    return Plan(made_up(action, GENERATED, client), generated=True)


def read_plan(path: Path) -> Plan:
    """The plan in a file.

    Raises:
        PlanError: it is too large, no JSON, or not as a plan is written.
    """
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        raise PlanError(f"{path} has {len(content)} bytes; a plan has at most {MOST_BYTES}")
    try:
        plan = _File.model_validate(json.loads(content))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"]))
        raise PlanError(f"{path}: {key}: {fault['msg']}") from error
    except json.JSONDecodeError as error:
        raise PlanError(
            f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}; correct it"
        ) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"{path}: no JSON: {error}; correct it") from error
    reset = plan.reset
    return Plan(plan.actions, reset.seed, reset.episode_id, reset.options)
