"""Tools and the results of their calls, as the two conventions write them."""

from __future__ import annotations

from typing import Any

from openenv.env.tool_content import rendered, text_block
from openenv.env.tool_models import ToolErrorType
from openenv.protocol.errors import (
    EnvironmentFactoryError,
    Json,
    SessionCapacityError,
    SessionCreationError,
    SessionError,
)
from openenv.protocol.jsonrpc import JsonRpcErrorCode, RpcRefusal

_OF_THE_SERVER = (SessionCapacityError, SessionCreationError, EnvironmentFactoryError)
_OUTCOME = ("reward", "done", "truncated")


def described(tool: Json) -> Json:
    """A tool as every road lists it."""
    return {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["input_schema"],
    }


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


def rewarded(told: Json) -> Json:
    """What a call did to the episode, as an addition to its result."""
    return {"_meta": {"openenv": {name: told[name] for name in _OUTCOME if name in told}}}


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
    error: Json | None = observation.get("error")
    result: Any = observation.get("result")
    if error is not None or (isinstance(result, dict) and result.keys() >= _RESULT):
        return error, result
    return None, rendered(result)


_RESULT = {"content", "structured_content", "is_error"}


def _block(block: Json) -> Json:
    """A block of content without what it does not say, as strict readers want it."""
    return {name: value for name, value in block.items() if value is not None}
