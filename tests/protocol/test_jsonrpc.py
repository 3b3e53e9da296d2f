"""JSON-RPC's models, as existing packages use them, and what is no request."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from openenv.protocol.jsonrpc import (
    JsonRpcError,
    JsonRpcErrorCode,
    JsonRpcRequest,
    JsonRpcResponse,
    McpMethod,
    RpcRefusal,
    WSMCPMessage,
    WSMCPResponse,
    read_message,
    read_request,
)

ASKED: dict[str, Any] = {"jsonrpc": "2.0", "method": "tools/list"}


def test_a_request_has_defaults() -> None:
    request = JsonRpcRequest(jsonrpc="2.0", method=McpMethod.TOOLS_LIST)
    assert request.model_dump() == ASKED | {"params": {}, "id": None}
    assert "id" not in request.model_fields_set


@pytest.mark.parametrize("identity", [1, -1, 0, "a", "", None, 10**30])
def test_an_id_stays_as_it_is(identity: Any) -> None:
    request = read_request(ASKED | {"id": identity})
    assert request.id == identity
    assert type(request.id) is type(identity)


@pytest.mark.parametrize(
    "wrong",
    [{"id": True}, {"id": 1.5}, {"id": []}, {"params": None}, {"params": []}, {"method": 1}]
    + [{"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"more": 1}],
    ids=str,
)
def test_a_wrong_request_is_refused_by_its_fault(wrong: dict[str, Any]) -> None:
    message = ASKED | {"id": 7} | wrong
    with pytest.raises(RpcRefusal, match=next(iter(wrong))) as refused:
        read_request(message)
    response = refused.value.response()
    assert response["error"]["code"] == -32600
    assert response["id"] == (None if "id" in wrong else 7)


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "5", '"x"', "null", '{"a": NaN}', b"\xff", "[" * 100_000],
    ids=lambda body: repr(body)[:12],
)
def test_what_is_no_object_is_no_message(body: str | bytes) -> None:
    with pytest.raises(RpcRefusal) as refused:
        read_message(body)
    assert refused.value.error.code == -32700


def test_a_response_has_a_result_or_an_error() -> None:
    success = JsonRpcResponse.success({"a": 1}, request_id=3)
    assert success.model_dump() == {"jsonrpc": "2.0", "id": 3, "result": {"a": 1}}
    assert JsonRpcResponse.success(None).model_dump() == {
        "jsonrpc": "2.0",
        "id": None,
        "result": None,
    }
    failure = JsonRpcResponse.error_response(
        JsonRpcErrorCode.SERVER_ERROR, "full", {"x": 1}, request_id="id"
    )
    told = {"code": -32000, "message": "full", "data": {"x": 1}}
    assert failure.model_dump() == {"jsonrpc": "2.0", "id": "id", "error": told}
    assert json.loads(failure.model_dump_json()) == failure.model_dump()
    with pytest.raises(ValidationError):
        JsonRpcResponse(more=1)  # type: ignore[call-arg]


def test_every_code_has_words_of_its_own() -> None:
    assert {code: JsonRpcError.from_code(code).message for code in JsonRpcErrorCode} == {
        -32700: "Parse error",
        -32600: "Invalid Request",
        -32601: "Method not found",
        -32602: "Invalid params",
        -32603: "Internal error",
        -32000: "Server error",
    }
    assert JsonRpcError.from_code(JsonRpcErrorCode.INVALID_PARAMS, "no", 5).model_dump() == {
        "code": -32602,
        "message": "no",
        "data": 5,
    }


def test_frames_carry_objects() -> None:
    assert WSMCPMessage(data=ASKED).model_dump() == {"type": "mcp", "data": ASKED}
    assert WSMCPResponse(data={}).type == "mcp"
    with pytest.raises(ValidationError):
        WSMCPMessage(data=[])  # type: ignore[arg-type]
