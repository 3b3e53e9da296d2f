"""`POST /mcp`: JSON-RPC 2.0, for environments that have no tools to offer."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic_core import from_json

PARSE_ERROR, INVALID_REQUEST, NO_SUCH_METHOD, INTERNAL = -32700, -32600, -32601, -32603
TOOL_METHODS = ("tools/list", "tools/call")


def mcp_routes() -> APIRouter:
    """The route of tools. Its errors are answers, with status 200."""
    router = APIRouter(tags=["Tools"])

    @router.post("/mcp", response_model=None)
    async def mcp(request: Request) -> JSONResponse:
        """Answers a JSON-RPC request: there are no tools here."""
        return JSONResponse(refusal(await request.body()))

    return router


def refusal(body: bytes) -> dict[str, Any]:
    """Why a request gets no result."""
    try:
        asked = from_json(body)
    except ValueError:
        return _error(None, PARSE_ERROR, "Parse error: the body is no JSON")
    if not isinstance(asked, dict):
        return _error(None, PARSE_ERROR, "Parse error: one request at a time, as an object")
    method, identity = asked.get("method"), asked.get("id")
    if asked.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return _error(identity, INVALID_REQUEST, 'Invalid request: "jsonrpc": "2.0" and a method')
    if method in TOOL_METHODS:
        return _error(identity, INTERNAL, "Environment does not support MCP")
    return _error(identity, NO_SUCH_METHOD, f"Method not found: {method}")


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    error = {"code": code, "message": message, "data": None}
    return {"jsonrpc": "2.0", "id": identity, "error": error}
