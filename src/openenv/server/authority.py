"""Authority: who may call a server, and who may control its episodes."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from openenv.protocol.errors import ConfigurationError, ControlClosed
from openenv.protocol.wire import ServerMode

STANDING = "openenv.standing"
"""Where the ASGI scope says what a caller may do."""

WATCHING = "openenv.watching"
"""Where it says whether a caller may watch running sessions, which is a matter of its own."""


class Standing(Enum):
    """What a caller may do."""

    NOBODY = "nobody"
    WATCHER = "watcher"
    AGENT = "agent"
    TRAINER = "trainer"


@dataclass(frozen=True)
class Authority:
    """What decides it.

    In simulation a caller may control episodes, unless a control token says who else may; in
    production nobody may without it.

    Attributes:
        mode: for whom the server is.
        token: what every caller must show, if anything.
        control_token: what those must show who control episodes; it is as good as the other.
        allow_agent_control: whoever may call may control episodes, in production too.
        watch_token: what those must show who watch running sessions, and do nothing else; without
            one nobody watches.

    Raises:
        ConfigurationError: the watch token is also another one, so that it would open less.
    """

    mode: ServerMode = ServerMode.SIMULATION
    token: str | None = field(default=None, repr=False)
    control_token: str | None = field(default=None, repr=False)
    allow_agent_control: bool = False
    watch_token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.watch_token is not None and self.watch_token in (self.token, self.control_token):
            raise ConfigurationError(
                "the watch token opens nothing but watching: give it a value of its own, other "
                "than that of OPENENV_TOKEN and OPENENV_CONTROL_TOKEN"
            )

    def standing(self, authorization: str) -> Standing:
        """What the caller with this `Authorization` header may do."""
        shown = _shown(authorization)
        if _same(shown, self.control_token):
            return Standing.TRAINER
        if _same(shown, self.watch_token):
            return Standing.WATCHER
        if self.token is not None and not _same(shown, self.token):
            return Standing.NOBODY
        for_all = self.mode is ServerMode.SIMULATION and self.control_token is None
        return Standing.TRAINER if for_all or self.allow_agent_control else Standing.AGENT

    def may_watch(self, authorization: str) -> bool:
        """Whether the caller with this `Authorization` header may watch running sessions."""
        shown = _shown(authorization)
        watching = self.watch_token is not None
        return watching and (_same(shown, self.watch_token) or _same(shown, self.control_token))

    @property
    def needs_token(self) -> bool:
        """Whether only those control episodes who show a token that there is."""
        there_is_one = self.token is not None or self.control_token is not None
        return there_is_one and self.standing("") is not Standing.TRAINER


def may_control(scope: Any) -> bool:
    """Whether the caller of a request may control episodes."""
    return scope.get(STANDING, Standing.TRAINER) is Standing.TRAINER


def watches(scope: Any) -> bool:
    """Whether the caller of a request may watch running sessions; not where nothing says so."""
    return scope.get(WATCHING, False) is True


def control_closed() -> ControlClosed:
    """Why a caller may not control episodes."""
    return ControlClosed(
        "this server lets you call tools, not reset, step or see the state: whoever controls "
        "episodes shows the control token, as Authorization: Bearer TOKEN (OPENENV_CONTROL_TOKEN "
        "on the server, OPENENV_CLIENT_TOKEN on a client); in production without one nobody does, "
        "unless OPENENV_ALLOW_AGENT_CONTROL=true"
    )


def _shown(authorization: str) -> str:
    scheme, _, shown = authorization.partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else ""


def _same(shown: str, wanted: str | None) -> bool:
    return wanted is not None and hmac.compare_digest(shown.encode("latin-1"), wanted.encode())
