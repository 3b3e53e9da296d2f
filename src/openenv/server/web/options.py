"""What an author says of the web interface, and what its parts know of the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openenv.env.spec import EnvSpec
    from openenv.runtime.sessions import Sessions
    from openenv.server.authority import Authority
    from openenv.server.calls import Calls
    from openenv.server.info import Card


@dataclass(frozen=True)
class WebOptions:
    """What an author says of the page.

    Attributes:
        builder: makes a Gradio page of the author's own, if there is one.
        tab_name: what leads to it is called.
        tab_primary: it is shown first.
        default_tab: the built-in page is shown besides it.
        title: the page's title, by default one from the environment's name.
    """

    builder: Callable[..., Any] | None = None
    tab_name: str = "Custom"
    tab_primary: bool = False
    default_tab: bool = True
    title: str | None = None


@dataclass(frozen=True)
class Served:
    """What the parts of the web interface know of the server.

    Attributes:
        spec: the environment.
        sessions: the server's.
        card: what the environment tells about itself.
        authority: who may do what, and the mode of the routes.
        calls: those that are waited for over HTTP, and given up when the server ends.
        alone: no other server process shares the port.
        env_name: the environment's name for people, if it was given one.
    """

    spec: EnvSpec
    sessions: Sessions
    card: Card
    authority: Authority
    calls: Calls
    alone: bool = True
    env_name: str | None = None
