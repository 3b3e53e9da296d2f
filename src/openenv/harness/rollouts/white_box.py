"""The white-box loop: the trainer takes the model's turns, the session plays the calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from openenv.harness.rollouts.calls import record, text_of, told
from openenv.harness.rollouts.model_step import as_blocking
from openenv.harness.rollouts.results import (
    HarnessRolloutResult,
    HarnessRunLimits,
    Message,
    ModelStep,
    ModelStepResult,
    RolloutEvent,
    ToolResult,
)
from openenv.harness.rollouts.rollout_errors import RolloutFailed
from openenv.harness.rollouts.tokens import plain, tokens
from openenv.llm.responses import LLMResponse
from openenv.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.harness.rollouts.sessions import ResourceSession
    from openenv.llm.responses import ToolCall


class HarnessAdapter(ABC):
    """Plays the episode of a session, whoever owns the loop."""

    @abstractmethod
    def run_white_box(
        self,
        model_step: ModelStep,
        session: ResourceSession,
        limits: HarnessRunLimits | None = None,
    ) -> HarnessRolloutResult:
        """Plays an episode whose model's turns the caller takes.

        Args:
            model_step: takes a turn of the model.
            session: the episode; the caller closes it.
            limits: when it ends that does not end by itself; the defaults if there are none.

        Raises:
            RolloutFailed: it could not be played to its end; the error has what was played.
            NotImplementedError: this adapter has no such loop.
        """

    @abstractmethod
    def run_black_box(
        self, session: ResourceSession, limits: HarnessRunLimits | None = None
    ) -> HarnessRolloutResult:
        """Plays an episode by an agent that calls its model itself; otherwise the same."""


class MCPHarnessAdapter(HarnessAdapter):
    """A loop of turns: the model calls tools, and is told their results, until it calls none.

    It ends when the model calls no tool, when a tool's result is `done`, or at a limit. Whatever
    is wrong with a call (no such tool, arguments that are refused, a tool that raises) is that
    call's result, for the model to read; every call is answered, also one that a limit forbids.
    The rollout fails where no further call could succeed, or where the model's step does.
    """

    def run_white_box(
        self,
        model_step: ModelStep,
        session: ResourceSession,
        limits: HarnessRunLimits | None = None,
    ) -> HarnessRolloutResult:
        """See `HarnessAdapter`; `model_step` may be a coroutine function."""
        loop = _Loop(session, limits or HarnessRunLimits())
        with as_blocking(model_step) as step:
            try:
                loop.run(step)
            except Exception as error:
                loop.finish()
                raise RolloutFailed(
                    f"the rollout failed in turn {len(loop.rollout.turns)}, after "
                    f"{len(loop.rollout.tool_trace)} calls of tools: "
                    f"{type(error).__name__}: {error}",
                    loop.rollout,
                ) from error
        return loop.finish()

    def run_black_box(
        self, session: ResourceSession, limits: HarnessRunLimits | None = None
    ) -> HarnessRolloutResult:
        """There is none."""
        raise NotImplementedError(
            "MCPHarnessAdapter takes the model's turns itself: use run_white_box, or "
            "CLIHarnessAdapter for an agent that calls its model"
        )


class _Loop:
    """One rollout, while it is played."""

    def __init__(self, session: ResourceSession, limits: HarnessRunLimits) -> None:
        self.rollout = HarnessRolloutResult()
        self._session = session
        self._limits = limits
        self._is_truncated = False

    def run(self, model_step: ModelStep) -> None:
        """Plays until the end or a limit."""
        rollout, limits = self.rollout, self._limits
        rollout.messages = _conversation(self._session)
        tools = self._session.list_tools()
        while not (rollout.done or self._is_truncated):
            if len(rollout.turns) >= limits.max_turns:
                self._is_truncated = True
                return
            self._take_turn(model_step, tools)

    def finish(self) -> HarnessRolloutResult:
        """The rollout, with its metrics."""
        trace = self.rollout.tool_trace
        self.rollout.metrics = {
            "turns": len(self.rollout.turns),
            "tool_calls": len(trace),
            "tool_errors": sum(entry.result.error is not None for entry in trace),
            "truncated": self._is_truncated,
            "stopped_by": self._stopped_by(),
        }
        return self.rollout

    def _stopped_by(self) -> str:
        if self._is_truncated:
            return "limit"
        if self.rollout.episode_ended:
            return "environment"
        return "model" if self.rollout.done else "error"

    def _take_turn(self, model_step: ModelStep, tools: list[Tool]) -> None:
        rollout = self.rollout
        answer = model_step(list(rollout.messages), list(tools), dict(self._limits.sampling))
        turn = _checked(answer)
        response = turn.response
        calls = list(response.tool_calls)
        payload = {
            "turn": len(rollout.turns),
            "content": response.content,
            "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.args} for c in calls],
        }
        rollout.events.append(RolloutEvent("model_response", payload))
        rollout.messages.append(response.to_message_dict())
        rollout.turns.append(turn)
        rollout.prompt_ids.extend(turn.prompt_ids)
        rollout.completion_ids.extend(turn.completion_ids)
        rollout.logprobs.extend(turn.logprobs)
        if not calls:
            rollout.done = True
        for number, call in enumerate(calls):
            self._answer(call, self._refusal(number))

    def _refusal(self, number: int) -> str | None:
        """Why a call of a turn must not be made."""
        per_turn, total = self._limits.max_tool_calls_per_turn, self._limits.max_total_tool_calls
        if self.rollout.done:
            return "not called: the episode has ended"
        if per_turn is not None and number >= per_turn:
            return f"not called: one turn may have {per_turn} calls"
        if total is not None and len(self.rollout.tool_trace) >= total:
            self._is_truncated = True
            return f"not called: an episode may have {total} calls"
        return None

    def _answer(self, call: ToolCall, refusal: str | None) -> None:
        rollout = self.rollout
        if refusal is not None:
            result = ToolResult(error=refusal)
            payload = {"tool_name": call.name, "arguments": call.args, "reason": refusal}
            rollout.events.append(RolloutEvent("tool_call_refused", payload))
        else:
            fault = getattr(call, "fault", None)
            result = ToolResult(error=fault) if fault else told(self._session, call.name, call.args)
            record(rollout, call.name, call.args, result)
            rollout.done = rollout.done or result.done
        rollout.messages.append(
            {
                "role": "tool",
                "tool_call_id": call.id,
                "name": call.name,
                "content": text_of(result),
            }
        )


def _conversation(session: ResourceSession) -> list[Message]:
    """The conversation before the first turn.

    Raises:
        ProtocolError: the session gave something else.
    """
    messages = session.initial_messages()
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        raise ProtocolError(
            f"initial_messages() of {type(session).__name__} must return a list of dicts, got "
            f"{str(messages)[:100]!r}"
        )
    return list(messages)


def _checked(answer: object) -> ModelStepResult:
    """What a model's step returned, if it is a turn.

    Raises:
        ProtocolError: it is none.
    """
    if not isinstance(answer, ModelStepResult) or not isinstance(answer.response, LLMResponse):
        inner = getattr(answer, "response", None)
        what = type(answer).__name__ + ("" if inner is None else f" of a {type(inner).__name__}")
        raise ProtocolError(
            f"the model's step must return a ModelStepResult of an LLMResponse, got a {what}"
        )
    prompt, completion = tokens(answer.prompt_ids), tokens(answer.completion_ids)
    logprobs = plain(answer.logprobs)
    if len(logprobs) not in (0, len(completion)):
        raise ProtocolError(
            f"the model's step returned {len(completion)} completion_ids and {len(logprobs)} "
            "logprobs: one is needed for each, or none at all"
        )
    return ModelStepResult(answer.response, prompt, completion, logprobs)
