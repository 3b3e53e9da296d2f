"""Tools and the results of their calls, as the two conventions write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openenv.env.rewards import REWARD_ERROR
from openenv.env.tool_content import rendered, text_block
from openenv.env.tool_models import ToolErrorType
from openenv.protocol.errors import (
    ENDING_CODES,
    EnvironmentFactoryError,
    Json,
    ResetRequired,
    SessionCapacityError,
    SessionCreationError,
    SessionError,
)
from openenv.protocol.jsonrpc import JsonRpcErrorCode, RpcRefusal
from openenv.protocol.values import encode

Result = Callable[[Json, Json], Json]
Failure = Callable[[SessionError], Json]

_OF_THE_SERVER = (SessionCapacityError, SessionCreationError, EnvironmentFactoryError)
MAX_INSTRUCTIONS = 16_384
"""The characters of a first observation, at most; an agent is told of no longer one."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_OUTCOME = ("reward", "done", "truncated")
_RESULT = frozenset({"content", "structured_content", "is_error"})


@dataclass(frozen=True)
class Shape:
    """How a convention writes what came of a call.

    Attributes:
        result: of the observation's `data`, and what is said beside it.
        failure: of an error of the session.
    """

    result: Result
    failure: Failure


def listed(told: Json) -> list[Json]:
    """The tools as every road lists them.

    Args:
        told: the `data` of the observation.

    Raises:
        RpcRefusal: the environment answers such actions itself, and gave no list of tools.
    """
    try:
        return [
            {
                "name": tool["name"],
                "description": tool["description"],
                "inputSchema": tool["input_schema"],
            }
            for tool in told["observation"]["tools"]
        ]
    except (KeyError, TypeError):
        raise RpcRefusal(
            JsonRpcErrorCode.INTERNAL_ERROR,
            "the environment's step answered a ListToolsAction with no list of tools; let it give "
            "a ListToolsObservation",
        ) from None


def openenv_result(told: Json, meta: Json) -> Json:
    """The result of a call in OpenEnv's convention.

    Args:
        told: the `data` of the observation.
        meta: what is said beside the result.

    Raises:
        RpcRefusal: the call failed; its `data` has the error's type.
    """
    error, result = _outcome(told)
    if error is not None:
        raise RpcRefusal(JsonRpcErrorCode.INTERNAL_ERROR, error["message"], error)
    twins: Json = {"isError": result["is_error"]}
    if result["structured_content"] is not None:
        twins["structuredContent"] = result["structured_content"]
    return {**result, **twins, **meta}


def mcp_result(told: Json, meta: Json) -> Json:
    """The result of a call in MCP's convention: what a tool did wrong is for the agent to read.

    Args:
        told: the `data` of the observation.
        meta: what is said beside the result.

    Raises:
        RpcRefusal: there is no such tool.
    """
    error, result = _outcome(told)
    if error is None:
        shaped: Json = {"content": [_block(each) for each in result["content"]]}
        if result["structured_content"] is not None:
            shaped["structuredContent"] = result["structured_content"]
        own: Json = result.get("meta") or {}
        told_beside = {**own, **meta.get("_meta", {})}
        meta = {"_meta": told_beside} if told_beside else {}
        return {**shaped, "isError": result["is_error"], **meta}
    if error["error_type"] == ToolErrorType.TOOL_NOT_FOUND.value:
        raise RpcRefusal(JsonRpcErrorCode.INVALID_PARAMS, error["message"])
    return {"content": [text_block(error["message"])], "isError": True, **meta}


def openenv_failure(error: SessionError) -> Json:
    """What a session's error is in OpenEnv's convention: an error of JSON-RPC.

    Raises:
        RpcRefusal: always.
    """
    raise refused(error)


def mcp_failure(error: SessionError) -> Json:
    """What a session's error is in MCP's: a result to read, as long as the session lives.

    Raises:
        RpcRefusal: it has ended, or never was.
    """
    if error.code in ENDING_CODES:
        raise refused(error)
    over = isinstance(error, ResetRequired)
    text = "the episode is over: no tool can be called in it any more" if over else error.message
    return {"content": [text_block(text)], "isError": True}


def rewarded(told: Json) -> Json:
    """What a call did to the episode, as an addition to its result."""
    outcome = {name: told[name] for name in _OUTCOME if name in told}
    failure = (told.get("metadata") or {}).get(REWARD_ERROR)
    if failure is not None:
        outcome[REWARD_ERROR] = failure
    return {"_meta": {"openenv": outcome}}


def instructions(told: Json, about: str | None) -> Json:
    """What an agent is told of an episode that has begun: its first observation, if it has one.

    Args:
        told: the `data` of what the reset gave.
        about: what the environment says of itself, which comes first.
    """
    seen = {name: value for name, value in told["observation"].items() if name != "metadata"}
    text = encode(seen).decode()
    if not any(value not in _NOTHING for value in seen.values()) or len(text) > MAX_INSTRUCTIONS:
        return {}
    begun = f"An episode has begun, and this is its first observation: {text}"
    return {"instructions": f"{about}\n\n{begun}" if about else begun}


def refused(error: SessionError) -> RpcRefusal:
    """A typed error as JSON-RPC tells it."""
    code = (
        JsonRpcErrorCode.SERVER_ERROR
        if isinstance(error, _OF_THE_SERVER)
        else JsonRpcErrorCode.INTERNAL_ERROR
    )
    return RpcRefusal(code, error.message, {"code": error.code, **error.details})


def _outcome(told: Json) -> tuple[Json | None, Json]:
    """A call's error, or else its result, whatever a step of the environment's own made it."""
    observation: Json = told["observation"]
    error: Any = observation.get("error")
    result: Any = observation.get("result")
    if isinstance(error, dict) and isinstance(error.get("error_type"), str):
        return {"message": error["error_type"], **error}, {}
    if error is not None or "result" not in observation:  # an observation of the author's own
        own = {name: value for name, value in observation.items() if name != "metadata"}
        return None, rendered(own)
    if isinstance(result, dict) and result.keys() >= _RESULT:
        return None, result
    return None, rendered(result)


def _block(block: Json) -> Json:
    """A block of content without what it does not say, as strict readers want it."""
    return {name: value for name, value in block.items() if value is not None}


OPENENV = Shape(openenv_result, openenv_failure)
MCP = Shape(mcp_result, mcp_failure)
