"""Steps of models that are awaited: on one loop, in one thread that ends."""

import asyncio
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv.harness import (
    BlockingModelStep,
    HarnessRunLimits,
    MCPHarnessAdapter,
    Message,
    ModelStepResult,
    build_model_step,
)
from openenv.llm import LLMClient, LLMResponse, ToolCall
from tests.harness.trainer.worlds import GUESS, stepping
from tests.serving import eventually

HELLO: list[Message] = [{"role": "user", "content": "hello"}]


class Scripted(LLMClient):
    """A client of a model that guesses 3, and keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1", 1)
        self.asked: list[tuple[Any, Any, Any]] = []
        self.loops: set[int] = set()
        self.closed = 0

    async def complete(self, prompt: str, **options: Any) -> str:
        return ""

    async def complete_with_tools(self, messages: Any, tools: Any, **options: Any) -> LLMResponse:
        self.asked.append((messages, tools, options))
        self.loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return LLMResponse("", [ToolCall("c", "guess", {"n": 3})])

    async def aclose(self) -> None:
        self.closed += 1


def threads() -> int:
    return sum(thread.name == "openenv-model-step" for thread in threading.enumerate())


def test_a_language_model_plays(url: str) -> None:
    client = Scripted()
    limits = HarnessRunLimits(sampling={"temperature": 0.2, "max_tokens": 9, "top_p": None})
    with build_model_step(client, system_prompt="be brief") as step:
        for seed in (3, 13):
            session = stepping(url, seed=seed)
            assert MCPHarnessAdapter().run_white_box(step, session, limits).done
            session.close()
        assert threads() == 1
    messages, tools, options = client.asked[0]
    assert messages[0] == {"role": "system", "content": "be brief"}
    assert messages[1]["role"] == "user"
    assert tools == [
        {"name": "guess", "description": GUESS.description, "inputSchema": GUESS.input_schema}
    ]
    assert options == {"temperature": 0.2, "max_tokens": 9}
    assert (len(client.asked), len(client.loops), client.closed > 0) == (2, 1, True)
    eventually(lambda: threads() == 0)


def test_a_conversations_own_system_message_is_kept() -> None:
    client = Scripted()
    own: list[Message] = [{"role": "system", "content": "own"}, *HELLO]
    with build_model_step(client, system_prompt="be brief") as step:
        step(own, [], {})
    assert client.asked[0][0] == own


def test_a_step_serves_threads_and_works_again_after_a_close() -> None:
    client = Scripted()
    with build_model_step(client) as step, ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: step(HELLO, [], {}), range(16)))
        assert len(done) == 16
        step.close()
        assert step(HELLO, [], {}).response.tool_calls[0].name == "guess"
    eventually(lambda: threads() == 0)


def test_a_step_works_inside_an_event_loop() -> None:
    async def ask() -> ModelStepResult:
        with build_model_step(Scripted()) as step:
            return step(HELLO, [], {})

    assert asyncio.run(ask()).response.tool_calls


def test_a_step_that_is_let_go_ends_its_thread() -> None:
    step: Any = build_model_step(Scripted())
    step(HELLO, [], {})
    assert threads() == 1
    del step
    eventually(lambda: threads() == 0)


async def plain(messages: list[Message], tools: Any, sampling: Any) -> ModelStepResult:
    await asyncio.sleep(0)
    return ModelStepResult(LLMResponse("", [ToolCall("c", "guess", {"n": 3})]))


class Callable_:
    async def __call__(self, messages: Any, tools: Any, sampling: Any) -> ModelStepResult:
        return await plain(messages, tools, sampling)


@pytest.mark.parametrize("step", [plain, Callable_()], ids=["a function", "an object"])
def test_a_loop_takes_a_coroutine_function(url: str, step: Any) -> None:
    session = stepping(url, seed=3)
    rollout = MCPHarnessAdapter().run_white_box(step, session)
    assert (rollout.done, rollout.metrics["tool_calls"]) == (True, 1)
    eventually(lambda: threads() == 0)
    session.close()


def test_a_step_pickles() -> None:
    with pickle.loads(pickle.dumps(BlockingModelStep(plain))) as step:
        assert step(HELLO, [], {}).response.tool_calls


def test_a_step_works_after_a_fork() -> None:
    with BlockingModelStep(plain) as step:
        step(HELLO, [], {})
        child = os.fork()
        if child == 0:
            try:
                os._exit(len(step(HELLO, [], {}).response.tool_calls))
            finally:
                os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
