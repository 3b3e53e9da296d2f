"""The session loop of TRL's asynchronous trainer, without its vLLM, over our sessions."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from trl.experimental.async_grpo.openenv_harness import _HarnessRolloutLoop, _tools_to_schema

from openenv.core.harness import (
    HarnessRunLimits,
    MCPHarnessAdapter,
    ResourceSessionFactory,
    TrainableSession,
    TrainingTrace,
    VerifyResult,
)
from openenv.harness import ServedSessions


class Traced(TrainableSession):
    """A session whose agent owns the loop, and has ended."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        prompt = tokenizer.encode("hello")
        node = {"node_id": "turn-0"}
        message = {"role": "assistant", "content": "hi"}
        self._entry: dict[str, Any] = {
            "prompt_token_ids": prompt,
            "completion_token_ids": tokenizer.encode("hi"),
            "per_token_logps": [-0.5] * len(tokenizer.encode("hi")),
            "loss_mask": [0] * len(prompt) + [1] * len(tokenizer.encode("hi")),
            "request": {"messages": [{"role": "user", "content": "hello"}]},
            "response": {"choices": [{"message": message}]},
            "metadata": node,
        }

    def initial_messages(self) -> list[Any]:
        return []

    def list_tools(self) -> list[Any]:
        return []

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def wait_for_completion(self, timeout_s: float | None = None) -> Any:
        return None

    def fetch_training_trace(self) -> TrainingTrace:
        return TrainingTrace.from_entries([self._entry])

    def fetch_proxy_trace(self) -> Any:
        return [self._entry]

    def verify(self, transcript: Any, final_state: Any = None) -> VerifyResult:
        return VerifyResult(env_reward=0.25, done=True)

    def close(self) -> None:
        pass


class Tracing(ResourceSessionFactory[Any]):
    """Makes such sessions."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def create(self, task: Any, seed: Any = None, episode_id: Any = None) -> Traced:
        return Traced(*self._given)


@contextmanager
def loop_of(tiny: Any, factory: Any, adapter: Any) -> Iterator[Any]:
    """TRL's loop with a model of this process where it asks vLLM."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = _HarnessRolloutLoop.__new__(_HarnessRolloutLoop)
    made.tokenizer, made.chat_template, made.chat_template_kwargs = tiny.tokenizer, None, {}
    made._adapter, made._factory, made._rollout_reward_fn = adapter, factory, None
    made._limits = HarnessRunLimits(max_turns=4)
    made._live_sessions, made._stop_event = set(), asyncio.Event()
    made._fork_threshold_tokens, made._loop = 0, loop
    made._generate_one_turn = _turns_of(tiny)
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _turns_of(tiny: Any) -> Any:
    import torch

    async def generate(prompt_ids: list[int]) -> tuple[list[int], list[float]]:
        given = torch.tensor([prompt_ids])
        options = {"do_sample": True, "max_new_tokens": 48, "pad_token_id": 0}
        ids = tiny.model.generate(given, **options)[0, len(prompt_ids) :].tolist()
        return ids, [-1.0] * len(ids)

    return generate


def sessions_of(url: str) -> ServedSessions:
    """Sessions that add nothing to the prompt."""
    return ServedSessions(
        url, moves="actions", reward="last", introduction=lambda first, task: list(task)
    )


def described(sessions: ServedSessions) -> Any:
    """A server's tools as this loop shows them to the model."""
    with closing(sessions.create([])) as session:
        return _tools_to_schema(session.list_tools())


def check(tiny: Any, sessions: ServedSessions, prompt: Any) -> str:
    """White-box sessions of a served environment, and a trace of an agent's own loop."""
    rewards, turns = [], []
    with loop_of(tiny, sessions, MCPHarnessAdapter()) as loop:
        for group in range(8):
            (_, ids, sequences, calls, failures, reward), metrics = loop._run_session(prompt, group)
            assert failures == 0 and sequences and ids
            rewards.append(reward)
            turns.append(metrics["turns"])
            assert calls == sum(metrics["tool_calls_by_name"].values())
    with loop_of(tiny, Tracing(tiny.model, tiny.tokenizer), None) as loop:
        (messages, ids, sequences, *_, reward), metrics = loop._run_session(prompt, 0)
        assert (messages[-1]["content"], reward, metrics["turns"]) == ("hi", 0.25, 1)
        assert len(ids) == len(tiny.tokenizer.encode("hi")) and len(sequences) == 1
    called = [reward for reward in rewards if reward is not None]
    assert len(called) >= 4
    spread = f"rewards {min(called):.1f} to {max(called):.1f}"
    return f"8 white-box sessions, {sum(turns)} turns, {spread}; a trace"
