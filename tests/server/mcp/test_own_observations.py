"""Environments whose step answers the calls itself, in observations of their own shape."""

from typing import Any

import pytest

from openenv.env.environment import Environment
from openenv.env.models import Observation, State
from openenv.env.tool_models import CallToolAction
from openenv.protocol.errors import Json
from openenv.protocol.jsonrpc import JsonRpcRequest
from openenv.server.mcp.methods import Asked, respond
from tests.server.mcp.rpc import Agent, Params, call, error, framed, line, openenv, result
from tests.serving import Served, serving


class Heard(Observation):
    """An observation whose names mean something else here than in a tool's."""

    text: str = ""
    error: Any = None
    tools: Any = None


class Radio(Environment[CallToolAction, Heard, State]):
    """Says what it is asked to."""

    REQUIRES_RESET = False
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, **options: Any) -> Heard:
        return Heard()

    def step(self, action: CallToolAction, **options: Any) -> Heard:
        arguments = getattr(action, "arguments", {})  # a list of tools is asked for, too
        return Heard(text="static", error=arguments.get("error"))


def on_a_line(served: Served, method: str, params: Params) -> Json:
    with line(served) as socket:
        return socket.ask(method, params)


def in_frames(served: Served, method: str, params: Params) -> Json:
    with served.socket() as socket:
        told = framed(socket, method, params)
        assert socket.reset()["observation"]["text"] == ""  # the conversation goes on
        return told


def as_agent(served: Served, method: str, params: Params) -> Json:
    return Agent(served).ask(method, params)


@pytest.mark.parametrize("road", [openenv, on_a_line, in_frames, as_agent])
def test_an_error_that_is_no_tools_error_is_plain_data(road: Any) -> None:
    with serving(Radio, host_kind="thread") as served:
        for wrong in ("went wrong", ["a", "b"], {"code": 5}):
            told = result(road(served, "tools/call", call("listen", error=wrong)))
            assert told["isError"] is False
            assert told["structuredContent"]["text"] == "static"
            assert told["structuredContent"]["error"] == wrong
        typed = {"error_type": "execution_error", "message": "no signal"}
        assert "no signal" in str(road(served, "tools/call", call("listen", error=typed)))


@pytest.mark.parametrize("road", [openenv, on_a_line, in_frames, as_agent])
def test_a_list_without_tools_is_an_error(road: Any) -> None:
    with serving(Radio, host_kind="thread") as served:
        fault = error(road(served, "tools/list", {}))
        assert fault["code"] == -32603
        assert "ListToolsObservation" in fault["message"]


async def test_a_fault_of_ours_is_answered_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(asked: Asked) -> Json:
        return asked.params["secret"]  # type: ignore[no-any-return]

    request = JsonRpcRequest(jsonrpc="2.0", id=7, method="broken", params={})
    told = await respond({"broken": broken}, request, Asked({}))
    assert (told["id"], told["error"]["code"]) == (7, -32603)
    assert "secret" not in str(told)
    (record,) = caplog.records
    assert told["error"]["data"]["incident"] in record.getMessage()
    assert "in broken" in record.getMessage()
