"""Where the server of a model is."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from openenv.protocol.errors import ConfigurationError


def address(endpoint: str, port: int | None) -> str:
    """The address of a server, checked.

    Args:
        endpoint: `http://HOST`, `https://HOST`, with or without a port and a path.
        port: the port, if the endpoint has none.

    Raises:
        ConfigurationError: it is no such address. It is told up to its host; a key may follow.
    """
    parts = _split(endpoint)
    own = _port(parts)
    if own is not None and port not in (None, own):
        raise ConfigurationError(
            f"the endpoint {_shown(parts)} says port {own}, the argument port={port!r}; give one"
        )
    if port is not None and (not isinstance(port, int) or not 1 <= port <= 65535):
        raise ConfigurationError(f"port={port!r} is no port; give a number from 1 to 65535")
    host = parts.netloc if own is not None or port is None else f"{parts.netloc}:{port}"
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def with_default_path(url: str, path: str) -> str:
    """An address with a path, unless it has one of its own."""
    return url if urlsplit(url).path else url + path


def _split(endpoint: str) -> SplitResult:
    try:
        parts = urlsplit(str(endpoint))
    except ValueError:
        raise ConfigurationError("the endpoint is no URL") from None
    if "@" in parts.netloc:  # not repeated: what stands before the @ is secret
        raise ConfigurationError(
            "the endpoint has credentials in it, which end up in logs; give api_key instead"
        )
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError("the endpoint does not begin with http://HOST or https://HOST")
    if parts.query or parts.fragment:
        raise ConfigurationError(
            f"the endpoint {_shown(parts)} has a query or a fragment; remove it"
        )
    return parts


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise ConfigurationError(f"the endpoint {_shown(parts)} has no valid port") from None


def _shown(parts: SplitResult) -> str:
    """The beginning of an address; what follows may be a secret."""
    return f"{parts.scheme}://{parts.hostname}"
