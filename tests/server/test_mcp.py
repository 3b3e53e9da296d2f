"""`POST /mcp` of an environment without tools: JSON-RPC's errors, with status 200."""

from typing import Any

import pytest

from openenv.testing import Counting
from tests.serving import serving

LIST = {"jsonrpc": "2.0", "method": "tools/list", "id": 1}


@pytest.mark.parametrize(
    ("body", "code", "identity"),
    [
        (LIST, -32603, 1),
        (LIST | {"method": "tools/call", "id": "a"}, -32603, "a"),
        (LIST | {"method": "initialize"}, -32602, 1),
        ({"method": "tools/list", "id": 7}, -32600, 7),
        (LIST | {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}}, -32603, 1),
        (LIST | {"method": "nope"}, -32601, 1),
        (LIST | {"method": 5}, -32600, 1),
        ({}, -32600, None),
        ([LIST], -32700, None),
        (b"{", -32700, None),
        (b"", -32700, None),
    ],
)
def test_what_is_asked_of_no_tools_is_answered_in_json_rpc(
    body: Any, code: int, identity: Any
) -> None:
    with serving(Counting) as server:
        json = {"Content-Type": "application/json"}
        answer = server.http("POST", "/mcp", body, json)
        assert answer.status == 200
        told = answer.json()
        assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", identity, code)
        assert server.http("GET", "/mcp").status == 405
        assert "/mcp" in server.http("GET", "/openapi.json").json()["paths"]
