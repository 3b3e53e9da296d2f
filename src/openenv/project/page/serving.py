"""What `openenv web` does: the page on a port of this machine, until it is ended."""

from __future__ import annotations

import secrets
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from openenv import settings
from openenv.client.endpoint import Endpoint
from openenv.client.spaces import served_at
from openenv.project.errors import UsageProblem
from openenv.project.page.application import application
from openenv.server import run
from openenv.server.guard import is_loopback


def serve_page(url: str, host: str = "127.0.0.1", port: int = 8080, *, show: bool = False) -> None:
    """Serves the page against a server elsewhere until SIGTERM or Ctrl-C.

    The client's token is for those alone who show the key that is in the page's address.

    Args:
        url: the server's address, or the page of its Space.
        host: the address to listen on.
        port: 0 picks a free one.
        show: open a browser.

    Raises:
        UsageProblem: the address holds a password.
        ConfigurationError: it is none, or the port is taken.
    """
    base_url = served_at(url).removesuffix("/web")
    if "@" in urlsplit(base_url).netloc:
        raise UsageProblem(
            "an address is seen by others: leave the password out, and set OPENENV_CLIENT_TOKEN "
            "to the token that the server asks for"
        )
    endpoint = Endpoint(base_url, settings.client_headers(None))
    key = secrets.token_urlsafe() if endpoint.headers else None
    with run.listen(host, port) as listening, ExitStack() as opened:
        app = application(endpoint, local=is_loopback(host), key=key)
        server = run.server_for(app, listening, quiet=True)
        server.config.ws_max_size = endpoint.max_message_bytes
        here, there = listening.getsockname()[:2]
        place = f"http://{f'[{here}]' if ':' in here else here}:{there}/web/"
        shown = place if key is None else f"{place}#token={key}"
        sys.stderr.write(f"openenv: the page of {base_url} is at {shown} (Ctrl-C ends it)\n")
        if not is_loopback(host):
            sys.stderr.write(_WARNING)
        sys.stderr.flush()
        if show:
            webbrowser.open(opened.enter_context(_leading_to(shown)))
        server.run(sockets=[listening])


@contextmanager
def _leading_to(address: str) -> Iterator[str]:
    """A file that leads to an address: others see a browser's command line, but not this file."""
    with TemporaryDirectory(prefix="openenv-web-") as private:
        page = Path(private, "page.html")
        page.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', "utf-8")
        yield page.as_uri()


_WARNING = (
    "openenv: warning: whoever reaches this address reaches that server, and whoever reads what "
    "is sent here acts with the token in OPENENV_CLIENT_TOKEN if there is one; serve this machine "
    "alone on 127.0.0.1 (the default)\n"
)
