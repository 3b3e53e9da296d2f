"""View: how an environment shows an observation on a page; made where the environment lives."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from reprlib import repr as brief
from typing import Any

from pydantic_core import from_json

from openenv.env.environment import overrides
from openenv.env.models import Observation, is_observation, pack
from openenv.env.spec import AnyEnvironment
from openenv.protocol.errors import EnvironmentFailed, Json
from openenv.protocol.messages import Reply
from openenv.protocol.msgpack import encode_msgpack
from openenv.protocol.values import encode
from openenv.runtime.faults import contained, is_awaitable

MAX_VIEW_BYTES = 4 * 1024 * 1024
"""The largest view that is sent, in JSON."""
MAX_ACTIONS = 200
"""The most buttons that a page shows."""
_HOOKS = ("render_web", "web_actions")


def view_of(environment: AnyEnvironment, observation: object) -> Json | Awaitable[Json]:
    """What a page shows of an observation, or what gives it when awaited.

    Args:
        environment: whose.
        observation: what a reset or a step gave.

    Returns:
        `html` and `actions`.

    Raises:
        EnvironmentFailed: the author's methods give something else; also when awaited.
    """
    if not is_observation(observation) or not any(
        overrides(type(environment), hook) for hook in _HOOKS
    ):
        return _view(None, [])
    told = _told(observation)
    html = contained(partial(environment.render_web, told))
    if is_awaitable(html):
        return _viewed_later(environment, told, html)
    return _with_actions(environment, told, html)


def view_reply(view: object, binary: bool) -> Reply:
    """The reply that tells a view.

    Raises:
        EnvironmentFailed: it is too large, or has no wire form.
    """
    body = encode(view)
    if len(body) > MAX_VIEW_BYTES:
        raise EnvironmentFailed(
            f"render_web and web_actions gave {len(body)} bytes, a page is shown at most "
            f"{MAX_VIEW_BYTES}"
        )
    return Reply("view", encode_msgpack(from_json(body)) if binary else body, binary=binary)


def _told(observation: Observation) -> Json:
    """An observation in JSON form, with `reward` and `done`, and `truncated` when it is true."""
    data = from_json(pack(observation))
    own: Json = data.pop("observation")
    return {**data, **own}


async def _viewed_later(
    environment: AnyEnvironment, told: Json, pending: Awaitable[object]
) -> Json:
    view = _with_actions(environment, told, await pending)
    return view if isinstance(view, dict) else await view


def _with_actions(environment: AnyEnvironment, told: Json, html: object) -> Json | Awaitable[Json]:
    actions = contained(partial(environment.web_actions, told))
    if is_awaitable(actions):
        return _with_actions_later(html, actions)
    return _view(html, actions)


async def _with_actions_later(html: object, pending: Awaitable[object]) -> Json:
    return _view(html, await pending)


def _view(html: object, actions: object) -> Json:
    if not isinstance(html, str | None):
        raise _wrong("render_web", "must give HTML text or None", html)
    if not isinstance(actions, list | tuple):
        raise _wrong("web_actions", "must give a list of (label, action)", actions)
    if len(actions) > MAX_ACTIONS:
        raise _too_much("web_actions", f"{len(actions)} actions, a page shows", MAX_ACTIONS)
    if html is not None:
        _check_length("render_web", html)
    return {"html": html, "actions": [_action(item) for item in actions]}


def _action(item: Any) -> Json:
    """One button."""
    if not isinstance(item, list | tuple) or len(item) not in (2, 3):
        raise _wrong("web_actions", "must give (label, action) or (label, action, key)", item)
    label, action, key = (*item, None)[:3]
    if not isinstance(label, str):
        raise _wrong("web_actions", "must give labels of text", label)
    _check_length("web_actions", label)
    if not isinstance(action, dict):
        raise _wrong("web_actions", f"must give the action of {label[:40]!r} as a dict", action)
    if key is None:
        return {"label": label, "action": action}
    if not isinstance(key, str) or not key:
        raise _wrong("web_actions", f"must name the key of {label[:40]!r} by text", key)
    return {"label": label, "action": action, "key": key}


def _check_length(name: str, text: str) -> None:
    """Refuses text that is too large in any encoding: to encode it would take long and copy it."""
    if len(text) > MAX_VIEW_BYTES:
        raise _too_much(name, f"{len(text)} characters, a page is shown", f"{MAX_VIEW_BYTES} bytes")


def _too_much(name: str, gave: str, most: object) -> EnvironmentFailed:
    return EnvironmentFailed(f"{name} gave {gave} at most {most}", operation=name)


def _wrong(name: str, rule: str, received: object) -> EnvironmentFailed:
    shown = brief(received[:80] if isinstance(received, bytes | bytearray) else received)
    return EnvironmentFailed(
        f"{name} {rule}, got {type(received).__name__}: {shown[:80]}", operation=name
    )
