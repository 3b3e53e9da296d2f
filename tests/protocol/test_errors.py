"""Every error class and its code: to the wire and back."""

import copy
import json
import pickle

import pytest

from openenv.protocol import errors
from openenv.protocol.errors import (
    Backpressure,
    ConcurrencyConfigurationError,
    ControlClosed,
    EnvironmentFactoryError,
    EnvironmentFailed,
    HostCrashed,
    InvalidRequest,
    MessageTooLarge,
    NoTools,
    OpenEnvError,
    OutOfTurn,
    ResetRequired,
    SessionCapacityError,
    SessionCreationError,
    SessionError,
    SessionExpired,
    SessionGone,
    SessionLost,
    SessionNotFoundError,
    StepTimeout,
    TakenOver,
    Unauthorized,
    WSErrorCode,
)
from openenv.protocol.messages import error_reply

FAULT = {"type": "missing", "loc": ["message"], "msg": "Field required", "input": {}}

ONE_OF_EACH: list[tuple[SessionError, type[SessionError], str]] = [
    (SessionError("x"), SessionError, "SESSION_ERROR"),
    (InvalidRequest("x", code="INVALID_JSON"), InvalidRequest, "INVALID_JSON"),
    (InvalidRequest("x", code="UNKNOWN_TYPE"), InvalidRequest, "UNKNOWN_TYPE"),
    (InvalidRequest("x", errors=[FAULT]), InvalidRequest, "VALIDATION_ERROR"),
    (ResetRequired("x"), ResetRequired, "RESET_REQUIRED"),
    (EnvironmentFailed("x", exception="ValueError"), EnvironmentFailed, "EXECUTION_ERROR"),
    (StepTimeout("x", timeout_s=3.0), StepTimeout, "STEP_TIMEOUT"),
    (HostCrashed("x", exit_code=-9, stderr="…"), HostCrashed, "HOST_CRASHED"),
    (EnvironmentFactoryError("make"), EnvironmentFactoryError, "FACTORY_ERROR"),
    (SessionCapacityError(3, 4), SessionCapacityError, "CAPACITY_REACHED"),
    (SessionCreationError("no room"), SessionCreationError, "SESSION_ERROR"),
    (SessionNotFoundError("a"), SessionNotFoundError, "SESSION_ERROR"),
    (SessionExpired("a", 5.0), SessionExpired, "SESSION_ERROR"),
    (SessionGone("x", session_id="a"), SessionGone, "SESSION_GONE"),
    (TakenOver("x"), TakenOver, "TAKEN_OVER"),
    (OutOfTurn("x", code="STALE_SEQ", seq=1, last_seq=3), OutOfTurn, "STALE_SEQ"),
    (OutOfTurn("x", code="SEQ_GAP", seq=5, last_seq=3), OutOfTurn, "SEQ_GAP"),
    (Unauthorized("x"), Unauthorized, "UNAUTHORIZED"),
    (ControlClosed("x"), ControlClosed, "CONTROL_CLOSED"),
    (NoTools("x"), NoTools, "NO_TOOLS"),
    (Backpressure("x", max_channels=1), Backpressure, "BACKPRESSURE"),
    (MessageTooLarge("x", limit=5), MessageTooLarge, "MESSAGE_TOO_LARGE"),
    (SessionLost("x", steps=3), SessionLost, "SESSION_LOST"),
]


def subclasses(root: type[SessionError]) -> set[type[SessionError]]:
    return {root}.union(*(subclasses(child) for child in root.__subclasses__()))


def test_the_list_has_every_class() -> None:
    own = {cls for cls in subclasses(SessionError) if cls.__module__ == errors.__name__}
    assert {type(error) for error, _, _ in ONE_OF_EACH} == own


@pytest.mark.parametrize(
    ("error", "back", "code"), ONE_OF_EACH, ids=[type(e).__name__ for e, _, _ in ONE_OF_EACH]
)
def test_to_the_wire_and_back(error: SessionError, back: type[SessionError], code: str) -> None:
    reply = error_reply(error)
    data = json.loads(reply.body)
    assert (reply.type, data["code"], data["message"]) == ("error", code, error.message)
    again = SessionError.from_data(data)
    assert type(again) is back
    assert isinstance(error, back)
    assert (again.message, again.code, again.details) == (error.message, code, error.details)
    assert str(again) == f"{error.message} (code: {code})"


@pytest.mark.parametrize("error", [e for e, _, _ in ONE_OF_EACH], ids=lambda e: type(e).__name__)
def test_errors_cross_between_the_processes_of_a_trainer(error: SessionError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_every_published_code_has_a_class() -> None:
    for code in WSErrorCode:
        error = SessionError.from_data({"code": code.value, "message": "x"})
        assert error.code == code.value
        assert (type(error) is SessionError) == (code is WSErrorCode.SESSION_ERROR)


def test_no_two_classes_claim_one_code() -> None:
    claimed = [code for cls in subclasses(SessionError) for code in cls.__dict__.get("codes", ())]
    assert len(claimed) == len(set(claimed))


def test_an_unknown_code_is_kept() -> None:
    error = SessionError.from_data({"code": "FROM_THE_FUTURE", "message": "x", "hint": 1})
    assert type(error) is SessionError
    assert (error.code, error.message, error.details) == ("FROM_THE_FUTURE", "x", {"hint": 1})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"message": None, "code": None},
        {"message": "x", "code": "VALIDATION_ERROR", "errors": None},
        {"message": "x", "code": "CAPACITY_REACHED"},
        {"message": "x", "code": "EXECUTION_ERROR", "self": 1, "cls": 2, "args": 3, "details": 4},
    ],
    ids=["empty", "null", "no list", "no numbers", "odd names"],
)
def test_whatever_a_server_says_becomes_an_error(data: dict[str, object]) -> None:
    error = SessionError.from_data(data)
    assert isinstance(error, SessionError)
    assert isinstance(str(error), str)


def test_missing_details_have_defaults() -> None:
    full = SessionError.from_data({"message": "x", "code": "CAPACITY_REACHED"})
    invalid = SessionError.from_data({"message": "x", "code": "VALIDATION_ERROR", "errors": None})
    assert isinstance(full, SessionCapacityError)
    assert isinstance(invalid, InvalidRequest)
    assert (full.active_sessions, full.max_sessions, invalid.errors) == (0, 0, [])


def test_errors_are_what_callers_already_catch() -> None:
    for error, _, _ in ONE_OF_EACH:
        assert isinstance(error, OpenEnvError | RuntimeError)
    assert issubclass(SessionError, RuntimeError)
    assert issubclass(StepTimeout, TimeoutError)
    assert issubclass(errors.ReplyTimeout, TimeoutError)
    assert issubclass(errors.ConnectFailed, ConnectionError)
    assert issubclass(errors.ConfigurationError, ValueError)
    assert issubclass(errors.ConcurrentCall, RuntimeError)


def test_attributes_that_existing_code_reads() -> None:
    assert SessionNotFoundError("a").details == {"session_id": "a"}
    assert SessionCreationError("no room").details == {"reason": "no room"}
    assert EnvironmentFactoryError("make").details == {"factory_name": "make"}
    full = SessionCapacityError(8, 8)
    assert (full.active_sessions, full.max_sessions) == (8, 8)
    assert "8/8" in str(full)
    conflict = ConcurrencyConfigurationError("Env", 4)
    assert (conflict.environment_name, conflict.max_concurrent_envs) == ("Env", 4)


@pytest.mark.parametrize(
    "error",
    [
        SessionNotFoundError("a", "mine"),
        SessionCreationError("r", "mine"),
        EnvironmentFactoryError("f", "mine"),
        SessionCapacityError(1, 1, "mine"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_message_of_ones_own(error: SessionError) -> None:
    assert error.message == "mine"


def test_a_refused_connection_tells_whether_to_try_again() -> None:
    refused = errors.ConnectFailed("busy", 503, worth_retrying=True)
    assert (str(refused), refused.status, refused.worth_retrying) == ("busy", 503, True)
    again = pickle.loads(pickle.dumps(refused))
    assert vars(again) == vars(refused)
    assert str(again) == "busy"


def test_a_wrong_configuration_crosses_between_processes() -> None:
    conflict = ConcurrencyConfigurationError("Env", 4)
    again = pickle.loads(pickle.dumps(conflict))
    assert (str(again), vars(again)) == (str(conflict), vars(conflict))
