"""JSON-RPC 2.0 as tools speak it: requests, responses, errors, and the `/ws` frames around them."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from typing_extensions import Self

from openenv.protocol.errors import Json
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


class WSMCPMessage(BaseMessage):
    """Asks for tools on `/ws`; `data` is the JSON-RPC request."""

    type: Literal["mcp"] = "mcp"
    data: Json


class WSMCPResponse(BaseMessage):
    """Answers it; `data` is the JSON-RPC response."""

    type: Literal["mcp"] = "mcp"
    data: Json
