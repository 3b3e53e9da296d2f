"""JSON-RPC 2.0 as tools speak it: requests, responses, errors, and the `/ws` frames around them."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import from_json
from typing_extensions import Self

from openenv.protocol.errors import Json, ProtocolError
from openenv.protocol.saying import faults_of
from openenv.protocol.wire import BaseMessage

RequestId = StrictInt | StrictStr | None
"""What pairs a response with its request; neither `true` nor `1.5` is one."""


class JsonRpcErrorCode(int, Enum):
    """The codes of JSON-RPC's errors."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    SERVER_ERROR = -32000


_MESSAGES = {
    JsonRpcErrorCode.PARSE_ERROR: "Parse error",
    JsonRpcErrorCode.INVALID_REQUEST: "Invalid Request",
    JsonRpcErrorCode.METHOD_NOT_FOUND: "Method not found",
    JsonRpcErrorCode.INVALID_PARAMS: "Invalid params",
    JsonRpcErrorCode.INTERNAL_ERROR: "Internal error",
    JsonRpcErrorCode.SERVER_ERROR: "Server error",
}


class McpMethod(str, Enum):
    """The methods of tools."""

    TOOLS_LIST = "tools/list"
    TOOLS_CALL = "tools/call"


class JsonRpcError(BaseModel):
    """Why there is no result.

    Attributes:
        code: one of `JsonRpcErrorCode`, or another number of the server's own.
        message: what happened, in a line.
        data: what else there is to say.
    """

    model_config = ConfigDict(extra="forbid")

    code: int
    message: str
    data: Any = None

    @classmethod
    def from_code(
        cls, code: JsonRpcErrorCode, message: str | None = None, data: Any = None
    ) -> Self:
        """An error of a known code, with that code's own message by default."""
        return cls(code=code.value, message=message or _MESSAGES[code], data=data)


class JsonRpcRequest(BaseModel):
    """What is asked. Without an `id` in `model_fields_set` it is a notification.

    Attributes:
        jsonrpc: the version, always `"2.0"`.
        method: what to do.
        params: by name; `{}` by default.
        id: comes back in the response.
    """

    model_config = ConfigDict(extra="forbid")

    jsonrpc: Literal["2.0"]
    method: str
    params: Json = Field(default_factory=dict)
    id: RequestId = None


class JsonRpcResponse(BaseModel):
    """What is answered: `error`, or else `result`.

    Attributes:
        jsonrpc: the version, always `"2.0"`.
        result: what the method gave.
        error: why it gave nothing.
        id: the request's.
    """

    model_config = ConfigDict(extra="forbid")

    jsonrpc: Literal["2.0"] = "2.0"
    result: Any = None
    error: JsonRpcError | None = None
    id: RequestId = None

    @classmethod
    def success(cls, result: Any, request_id: RequestId = None) -> Self:
        """The response with a result."""
        return cls(result=result, id=request_id)

    @classmethod
    def error_response(
        cls,
        code: JsonRpcErrorCode,
        message: str | None = None,
        data: Any = None,
        request_id: RequestId = None,
    ) -> Self:
        """The response with an error."""
        return cls(error=JsonRpcError.from_code(code, message, data), id=request_id)

    def model_dump(self, **options: Any) -> Json:
        """The response as plain values: its version, its id and exactly one of error and result."""
        answer = (
            {"result": self.result}
            if self.error is None
            else {"error": self.error.model_dump(**options)}
        )
        return {"jsonrpc": self.jsonrpc, "id": self.id, **answer}

    def model_dump_json(self, **options: Any) -> str:
        """`model_dump` as JSON."""
        return json.dumps(self.model_dump(**options))


class RpcRefusal(ProtocolError):
    """A request gets an error instead of a result.

    Attributes:
        error: what the response says.
        request_id: that of the request, where it could be read.
    """

    def __init__(
        self,
        code: JsonRpcErrorCode | int,
        message: str,
        data: Any = None,
        *,
        request_id: RequestId = None,
    ) -> None:
        super().__init__(message)
        self.error = JsonRpcError(code=int(code), message=message, data=data)
        self.request_id = request_id

    def response(self) -> Json:
        """The response, as plain values."""
        return JsonRpcResponse(error=self.error, id=self.request_id).model_dump()


def read_message(body: str | bytes) -> Json:
    """The one JSON object in a body or a frame.

    Raises:
        RpcRefusal: it is no JSON, or no object; several requests at once are not taken.
    """
    try:
        message = from_json(body, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # a TypeError: text that is no valid Unicode
        raise RpcRefusal(JsonRpcErrorCode.PARSE_ERROR, f"Parse error: {error}") from None
    if not isinstance(message, dict):
        what = "a batch" if isinstance(message, list) else type(message).__name__
        raise RpcRefusal(
            JsonRpcErrorCode.PARSE_ERROR,
            f"Parse error: expected one request, as a JSON object; got {what}",
        )
    return message


def read_request(message: Json) -> JsonRpcRequest:
    """The request in a message.

    Raises:
        RpcRefusal: it is none; the text names each fault.
    """
    try:
        return JsonRpcRequest.model_validate(message)
    except ValidationError as error:
        raise RpcRefusal(
            JsonRpcErrorCode.INVALID_REQUEST,
            f"Invalid Request: {faults_of(error, 'request')}",
            request_id=request_id(message),
        ) from None


def request_id(message: Json) -> RequestId:
    """The id that a message tells, if it is one."""
    told = message.get("id")
    return told if type(told) in (int, str) else None


class WSMCPMessage(BaseMessage):
    """Asks for tools on `/ws`; `data` is the JSON-RPC request."""

    type: Literal["mcp"] = "mcp"
    data: Json


class WSMCPResponse(BaseMessage):
    """Answers it; `data` is the JSON-RPC response."""

    type: Literal["mcp"] = "mcp"
    data: Json
