"""What the Hub refuses, in a line that says why and what to do."""

from __future__ import annotations

from typing import Any

from openenv.project.errors import ProjectError, UsageProblem

_BUSY = (429, 500, 502, 503, 504)
_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2")
_AGAIN = "run the same command again: what is already there is not sent twice"
_WAYS_OUT = {
    400: "correct what it names",
    402: "the Hub wants a paid plan or a payment method for that: see {endpoint}/settings/billing, "
    "or ask for hardware that is free for you (--hardware cpu-basic)",
    403: "the token may not do that: make one that may write at {endpoint}/settings/tokens, or "
    "name a Space of yours with --repo-id",
    404: "there is no such Space, or this account cannot see it: check the name",
    409: "it exists already, or somebody else is changing it: " + _AGAIN + ", or choose another "
    "name with --repo-id",
    413: "it is too large for the Hub: leave files out with --exclude",
    429: "too many requests: wait a few minutes, then " + _AGAIN,
}


class NotLoggedIn(UsageProblem):
    """There is no token for the Hub, or none that it knows."""

    def __init__(self, endpoint: str, reason: str = "no access token was found") -> None:
        super().__init__(
            f"not logged in to {endpoint}: {reason}; run `hf auth login`, or set HF_TOKEN to a "
            f"token that may write ({endpoint}/settings/tokens)"
        )


def explained(error: Exception, what: str, endpoint: str) -> ProjectError:
    """What went wrong with a request, and the way out.

    Args:
        error: what `huggingface_hub` or its transport raised.
        what: what was to be done, as a verb.
        endpoint: the Hub's address.
    """
    error = _telling(error)
    status = _status(error)
    if status == 401 and not _is_missing(error):
        return NotLoggedIn(endpoint, "the Hub does not know the token (401)")
    if status is not None:
        return _refusal(404 if _is_missing(error) else status, error, what, endpoint)
    if type(error).__name__ == "OfflineModeIsEnabled":
        return ProjectError(f"cannot {what}: HF_HUB_OFFLINE is set; unset it")
    if _is_of_the_connection(error):
        told = _line(str(error)) or type(error).__name__
        return ProjectError(
            f"cannot {what}: the connection to {endpoint} failed ({told}); check the network, "
            f"then {_AGAIN}"
        )
    if isinstance(error, ValueError) and "Expecting value" in str(error):
        return ProjectError(
            f"cannot {what}: {endpoint} did not answer as a Hub does; check HF_ENDPOINT, or "
            f"{_AGAIN}"
        )
    return ProjectError(f"cannot {what}: {_line(str(error)) or type(error).__name__}")


def pause_asked_for(error: Exception, default_s: float) -> float | None:
    """How long to wait before a request is repeated, in seconds; `None` if that is of no use."""
    telling: Any = _telling(error)
    if _is_of_the_connection(telling) and "Timeout" not in type(telling).__name__:
        return default_s
    if _status(telling) not in _BUSY:
        return None
    asked = telling.response.headers.get("Retry-After", "")
    return float(asked) if asked.isdecimal() else default_s


def _refusal(status: int, error: Any, what: str, endpoint: str) -> ProjectError:
    said = _line(getattr(error, "server_message", None) or "")
    reason = f"{status}: {said}" if said else str(status)
    default = f"the Hub has a fault of its own: wait a little, then {_AGAIN}"
    way_out = _WAYS_OUT.get(status, default if status >= 500 else _AGAIN)
    return ProjectError(f"cannot {what} ({reason}); {way_out.format(endpoint=endpoint)}")


def _is_missing(error: Exception) -> bool:
    return type(error).__name__ in ("RepositoryNotFoundError", "GatedRepoError")


def _telling(error: Exception) -> Exception:
    """Of a chain of `raise … from …`, the first that tells of a refusal or of a connection."""
    link: BaseException | None = error
    while isinstance(link, Exception):
        if _status(link) is not None or _is_of_the_connection(link):
            return link
        link = link.__cause__
    return error


def _is_of_the_connection(error: Exception) -> bool:
    return _status(error) is None and type(error).__module__.partition(".")[0] in _TRANSPORTS


def _status(error: Exception) -> int | None:
    """The HTTP status of an answer that is an error."""
    return getattr(getattr(error, "response", None), "status_code", None)


def _line(text: str) -> str:
    """A text as one line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
