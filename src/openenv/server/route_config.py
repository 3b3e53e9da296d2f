"""GET endpoints of an application, as a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI


@dataclass
class GetEndpointConfig:
    """One GET endpoint.

    Attributes:
        path: where it is.
        handler: answers; blocking or async.
        response_model: the class of its answers.
        tag: the group of the documentation that shows it.
        summary: its name there.
        description: what it says there.
    """

    path: str
    handler: Callable[..., Any]
    response_model: Any
    tag: str
    summary: str
    description: str


def register_get_endpoints(app: FastAPI, configs: Iterable[GetEndpointConfig]) -> None:
    """Adds GET endpoints to an application, in their order."""
    for config in configs:
        app.get(
            config.path,
            response_model=config.response_model,
            tags=[config.tag],
            summary=config.summary,
            description=config.description,
        )(config.handler)
