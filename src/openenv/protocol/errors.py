"""Every error of OpenEnv, and how the typed ones cross the wire.

OpenEnvError
├── ProtocolError             the other side broke the rules of the wire
├── ConfigurationError        a setting or an argument is wrong (also ValueError)
│   └── ConcurrencyConfigurationError
├── ModeError                 one client used both blocking and awaiting (also RuntimeError)
├── ConcurrentCall            two calls at once on one client (also RuntimeError)
├── ConnectFailed             no connection to the server (also ConnectionError)
├── ReplyTimeout              the answer took longer than the caller waits (also TimeoutError)
├── ProviderError             a server could not be started, or kept (also RuntimeError)
│   ├── NotAvailable          this machine lacks what the provider needs
│   └── NotReady              started, but not healthy in time (also TimeoutError)
└── SessionError              the server's typed answer (also RuntimeError): `code`, `message`
    ├── InvalidRequest        INVALID_JSON, UNKNOWN_TYPE, VALIDATION_ERROR: `errors`
    │   ├── ResetRequired     RESET_REQUIRED
    │   └── NoTools           NO_TOOLS: the environment has none to list or call
    ├── EnvironmentFailed     EXECUTION_ERROR
    │   ├── StepTimeout       STEP_TIMEOUT (also TimeoutError)
    │   ├── HostCrashed       HOST_CRASHED
    │   └── EnvironmentFactoryError  FACTORY_ERROR
    ├── SessionCapacityError  CAPACITY_REACHED: `active_sessions`, `max_sessions`
    ├── SessionCreationError  SESSION_ERROR
    ├── SessionNotFoundError  SESSION_ERROR
    ├── SessionExpired        SESSION_ERROR: idle for too long
    ├── SessionGone           SESSION_GONE: nothing to resume
    ├── TakenOver             TAKEN_OVER: another connection holds the session now
    ├── OutOfTurn             STALE_SEQ, SEQ_GAP: not the next request of its session
    ├── Unauthorized          UNAUTHORIZED
    ├── ControlClosed         CONTROL_CLOSED: tools may be called here, the episode not controlled
    ├── Backpressure          BACKPRESSURE: more at once than the server takes
    ├── MessageTooLarge       MESSAGE_TOO_LARGE
    └── SessionLost           raised by a client whose episode is gone

Parts that stand by themselves have classes of their own below `OpenEnvError`: `env.tools`
(ToolFailure), `client.tools` (ToolCallFailed), `executor` (ExecutorFailed), `llm.errors`
(ModelFailed and its kinds), `rubrics.judge` (NoScore), `rollout` (PolicyFailed and its kinds,
BrokenFile, NotATrajectory, FolderBusy), `harness` (HarnessError, RolloutFailed, RewardError and
others) and `evals` (EvalFailed).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from typing_extensions import Self

Json = dict[str, Any]


class WSErrorCode(str, Enum):
    """The codes that every v1 peer knows."""

    INVALID_JSON = "INVALID_JSON"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    CAPACITY_REACHED = "CAPACITY_REACHED"
    FACTORY_ERROR = "FACTORY_ERROR"
    SESSION_ERROR = "SESSION_ERROR"


class OpenEnvError(Exception):
    """The root of every error that OpenEnv raises on purpose."""


class ProtocolError(OpenEnvError, RuntimeError):
    """The other side broke the rules of the wire."""


class ConfigurationError(OpenEnvError, ValueError):
    """A setting or an argument is wrong."""


class ConcurrencyConfigurationError(ConfigurationError):
    """More sessions were asked for than the environment allows."""

    def __init__(
        self, environment_name: str, max_concurrent_envs: int, message: str | None = None
    ) -> None:
        self.environment_name = environment_name
        self.max_concurrent_envs = max_concurrent_envs
        super().__init__(
            message
            or f"{environment_name} says SUPPORTS_CONCURRENT_SESSIONS = False, but "
            f"{max_concurrent_envs} concurrent sessions were asked for; ask for 1, or set it to "
            "True if its instances share no state"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.environment_name, self.max_concurrent_envs, str(self))


class ModeError(OpenEnvError, RuntimeError):
    """One client object was used both blocking and awaiting."""


class ConcurrentCall(OpenEnvError, RuntimeError):
    """A second call began while another was running on the same client."""


class ConnectFailed(OpenEnvError, ConnectionError):
    """No connection to the server.

    Attributes:
        status: the HTTP status of a refused WebSocket handshake, `None` when no answer came.
        worth_retrying: the cause may pass: nobody listens yet, or the server is busy.
    """

    def __init__(
        self, message: str, status: int | None = None, *, worth_retrying: bool = False
    ) -> None:
        self.status = status
        self.worth_retrying = worth_retrying
        super().__init__(message)


class ReplyTimeout(OpenEnvError, TimeoutError):
    """The answer took longer than the caller was ready to wait."""


class ProviderError(OpenEnvError, RuntimeError):
    """A provider could not start a server, or lost it; the text has the end of its log."""


class NotAvailable(ProviderError):
    """This machine lacks what a provider needs: an engine, a cluster, a program, access to it."""


class NotReady(ProviderError, TimeoutError):
    """A server was started, but did not become healthy in time; nothing of it is left."""


class SessionError(OpenEnvError, RuntimeError):
    """A typed answer of the server that is not a result.

    Attributes:
        message: what happened, what was received and what to do, in a line or two.
        code: the wire's code.
        details: what else the server said, for example `errors`.
    """

    code: str = WSErrorCode.SESSION_ERROR.value
    codes: ClassVar[tuple[str, ...]] = ()
    marks: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, message: str, /, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details: Json = details

    def __str__(self) -> str:
        return f"{self.message} (code: {self.code})"

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later, as it is."""
        return self.code in RETRYABLE_CODES

    def to_data(self) -> Json:
        """The `data` of the error's frame."""
        return {"message": self.message, "code": self.code, **self.details}

    @classmethod
    def from_data(cls, data: Json) -> SessionError:
        """The error that a frame's `data` stands for; an unknown code is a `SessionError`."""
        details = dict(data)
        details.pop("retryable", None)  # the code says it
        message = str(details.pop("message", "the server sent an error without a message"))
        code = str(details.pop("code", cls.code))
        error_class = _CLASS_OF_CODE.get(code, SessionError)
        if code == SessionError.code:  # one code for several ends: their details tell which
            error_class = next(
                (kind for kind in _ENDS if kind.marks <= details.keys()), error_class
            )
        return _rebuilt(error_class, message, code, details)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, self.code, self.details)


def _rebuilt(
    error_class: type[SessionError], message: str, code: str, details: Json
) -> SessionError:
    """An error from what it says, without the constructor that its class may have of its own."""
    error = error_class.__new__(error_class, message)
    SessionError.__init__(error, message, code=code, **details)
    return error


class InvalidRequest(SessionError):
    """The request could not be understood; the environment was not touched."""

    code = WSErrorCode.VALIDATION_ERROR.value
    codes: ClassVar[tuple[str, ...]] = ("INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR")

    @property
    def errors(self) -> list[Json]:
        """Each fault, as pydantic reports it: `type`, `loc`, `msg`, `input`."""
        return list(self.details.get("errors") or [])


class ResetRequired(InvalidRequest):
    """A step came before the first reset, or after the episode's end."""

    code = "RESET_REQUIRED"
    codes = ("RESET_REQUIRED",)


class NoTools(InvalidRequest):
    """The environment has no tools to list or call."""

    code = "NO_TOOLS"
    codes = ("NO_TOOLS",)


class ControlClosed(SessionError):
    """Who asks may call tools, not control the episode."""

    code = "CONTROL_CLOSED"
    codes = ("CONTROL_CLOSED",)


class EnvironmentFailed(SessionError):
    """The environment's own code raised; the session lives."""

    code = WSErrorCode.EXECUTION_ERROR.value
    codes = ("EXECUTION_ERROR",)


class StepTimeout(EnvironmentFailed, TimeoutError):
    """The environment ran longer than the server allows; its session has ended."""

    code = "STEP_TIMEOUT"
    codes = ("STEP_TIMEOUT",)

    def __new__(cls, message: str, **details: Any) -> Self:
        """Made as a `TimeoutError`: Python finds `RuntimeError.__new__` first, which cannot."""
        return TimeoutError.__new__(cls, message)


class HostCrashed(EnvironmentFailed):
    """The process that held the environment died; its session has ended."""

    code = "HOST_CRASHED"
    codes = ("HOST_CRASHED",)


class EnvironmentFactoryError(EnvironmentFailed):
    """The environment could not be built."""

    code = WSErrorCode.FACTORY_ERROR.value
    codes = ("FACTORY_ERROR",)

    def __init__(self, factory_name: str, message: str | None = None) -> None:
        super().__init__(
            message or f"the environment factory {factory_name!r} failed",
            factory_name=factory_name,
        )


class SessionCapacityError(SessionError):
    """The server holds as many sessions as it may."""

    code = WSErrorCode.CAPACITY_REACHED.value
    codes = ("CAPACITY_REACHED",)

    def __init__(
        self,
        active_sessions: int,
        max_sessions: int,
        message: str | None = None,
        *,
        of_workers: int = 1,
    ) -> None:
        whose = " of this worker (another may have room: connect anew)" if of_workers > 1 else ""
        super().__init__(
            message
            or f"Server at capacity: {active_sessions}/{max_sessions} sessions active{whose}; "
            "close one, "
            "connect with wait_s to queue for a slot, or raise the server's MAX_CONCURRENT_ENVS "
            "(without effect where the environment allows one session)",
            active_sessions=active_sessions,
            max_sessions=max_sessions,
        )

    @property
    def active_sessions(self) -> int:
        """Sessions that were open."""
        return int(self.details.get("active_sessions") or 0)

    @property
    def max_sessions(self) -> int:
        """Sessions that may be open."""
        return int(self.details.get("max_sessions") or 0)


class SessionCreationError(SessionError):
    """A session could not be opened."""

    marks = frozenset({"reason"})

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message or f"the session could not be opened: {reason}", reason=reason)


class SessionNotFoundError(SessionError):
    """No session has that id (any more)."""

    marks = frozenset({"session_id"})

    def __init__(self, session_id: str, message: str | None = None) -> None:
        super().__init__(
            message or f"no session {session_id!r}: it never was, or it has ended; reset first",
            session_id=session_id,
        )


class SessionExpired(SessionError):
    """The session was idle for longer than the server keeps one."""

    marks = frozenset({"session_id", "idle_timeout_s"})

    def __init__(self, session_id: str, idle_s: float) -> None:
        super().__init__(
            f"session {session_id!r} expired: idle for more than {idle_s:g} s; reset() begins "
            "a new one",
            session_id=session_id,
            idle_timeout_s=idle_s,
        )


class SessionGone(SessionError):
    """There is no session to resume: it has ended, or its server has been started anew."""

    code = "SESSION_GONE"
    codes = ("SESSION_GONE",)


class TakenOver(SessionError):
    """Another connection has taken the session over."""

    code = "TAKEN_OVER"
    codes = ("TAKEN_OVER",)


class OutOfTurn(SessionError):
    """A request is not the next one of its session; the environment was not touched."""

    code = "SEQ_GAP"
    codes = ("STALE_SEQ", "SEQ_GAP")


class Unauthorized(SessionError):
    """The token is not the session's."""

    code = "UNAUTHORIZED"
    codes = ("UNAUTHORIZED",)


class Backpressure(SessionError):
    """More was asked at once than the server takes; ask again when some of it is answered."""

    code = "BACKPRESSURE"
    codes = ("BACKPRESSURE",)


class MessageTooLarge(SessionError):
    """A message is larger than one side accepts."""

    code = "MESSAGE_TOO_LARGE"
    codes = ("MESSAGE_TOO_LARGE",)


class SessionLost(SessionError):
    """The client's episode is gone; `reset()` begins a new one with the same client."""

    code = "SESSION_LOST"
    codes = ("SESSION_LOST",)


def _classes(root: type[SessionError]) -> list[type[SessionError]]:
    return [root, *(deeper for child in root.__subclasses__() for deeper in _classes(child))]


ENDING_CODES = frozenset(
    {"STEP_TIMEOUT", "HOST_CRASHED", "CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"}
)
"""Codes after which there is no session. They are the server's to say, not an environment's."""

RETRYABLE_CODES = frozenset({"CAPACITY_REACHED", "BACKPRESSURE"})
"""Codes of what may pass by itself."""

_ENDS: list[type[SessionError]] = [SessionExpired, SessionNotFoundError, SessionCreationError]
_CLASS_OF_CODE: dict[str, type[SessionError]] = {
    code: error_class for error_class in _classes(SessionError) for code in error_class.codes
}
