"""ModelPolicy: a language model that plays by calling tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openenv.client.results import StepResult
from openenv.env.tool_content import plain_result
from openenv.protocol.errors import InvalidRequest, Json
from openenv.rollout.policies.acting import as_text, described, seen, to_text, tool_of
from openenv.rollout.policies.calls import PolicyFailed
from openenv.rollout.policies.policy import Act, Policy

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.llm.base import LLMClient
    from openenv.llm.responses import ToolCall
    from openenv.rollout.policies.environment_spec import EnvironmentSpec

SYSTEM_PROMPT = (
    "You play in an environment. You act by calling tools, one call at a time; each answers with "
    "what you see next. Go on until the episode ends."
)
MOST_FAULTS = 5
"""How often in a row a model may call what cannot be called."""


class ModelPolicy(Policy):
    """A language model that plays.

    It calls the environment's own tools; where there are none, one tool `act` takes the fields of
    an action. It is told what it sees, as a conversation of its own in each episode, which the
    trajectory keeps in `messages`. What the server refuses it is told, too, and may try again. It
    stops when it calls nothing more.

    Args:
        client: of the model; its own limits of time hold.
        system_prompt: what the model is told first; it is no part of `messages`.
        name: what reports call it; the model's by default.
        **sampling: what the client's calls take, such as `temperature`.
    """

    blocks = False

    def __init__(
        self,
        client: LLMClient,
        system_prompt: str | None = SYSTEM_PROMPT,
        *,
        name: str | None = None,
        **sampling: Any,
    ) -> None:
        self.name = name or str(getattr(client, "model", type(client).__name__))
        self._client = client
        self._system_prompt = system_prompt
        self._sampling = sampling

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        """See `Policy`. The seed is not used: few servers of models take one."""
        return Conversation(self, spec)

    async def turn(self, messages: list[Json], tools: list[Tool]) -> Any:
        """The model's next message.

        Raises:
            ModelFailed: there is none.
        """
        prompt = self._system_prompt
        first = [] if prompt is None else [{"role": "system", "content": prompt}]
        return await self._client.complete_with_tools(
            [*first, *messages], described(tools), **self._sampling
        )


class Conversation:
    """One episode of a model.

    Args:
        policy: whose.
        spec: what is played.

    Attributes:
        messages: what was said so far, in OpenAI's form.

    Raises:
        ProtocolError: the environment tells neither tools nor what an action is.
    """

    def __init__(self, policy: ModelPolicy, spec: EnvironmentSpec) -> None:
        self.messages: list[Json] = []
        self._policy = policy
        self._by_tools = bool(spec.tools)
        self._tools = spec.tools or [tool_of(spec.action_schema, spec.base_url)]
        self._names = {tool.name for tool in self._tools}
        self._calls: list[ToolCall] = []
        self._current: ToolCall | None = None

    async def __call__(self, result: StepResult[Json]) -> Json | None:
        """The next action; `None` when the model calls nothing more."""
        self._hear(result)
        for _ in range(MOST_FAULTS):
            if not self._calls and not await self._turn():
                return None
            call = self._calls.pop(0)
            fault = self._fault(call)
            if fault is None:
                self._current = call
                return self._action(call)
            self._answer(call, to_text({"error": fault}))
        raise PolicyFailed(
            f"the model {self._policy.name!r} called what cannot be called {MOST_FAULTS} times in "
            "a row"
        )

    def refused(self, refusal: InvalidRequest) -> None:
        """Tells the model that its action was refused; the environment was not touched."""
        if self._current is not None:
            self._answer(self._current, to_text({"error": refusal.message}))
            self._current = None

    def ended(self, result: StepResult[Json]) -> None:
        """Adds what was seen last, which no turn follows."""
        self._hear(result)

    def _hear(self, result: StepResult[Json]) -> None:
        if self._current is not None:
            self._answer(self._current, self._text(result.observation))
            self._current = None
        elif not self.messages:
            self.messages.append({"role": "user", "content": as_text(seen(result.observation))})

    async def _turn(self) -> bool:
        """Asks the model; whether it calls something."""
        response = await self._policy.turn(list(self.messages), self._tools)
        self.messages.append(response.to_message_dict())
        self._calls = list(response.tool_calls)
        return bool(self._calls)

    def _fault(self, call: ToolCall) -> str | None:
        if call.fault is None and call.name not in self._names:
            return f"there is no tool {call.name!r}, only {', '.join(sorted(self._names))}"
        return call.fault

    def _action(self, call: ToolCall) -> Json:
        if self._by_tools:
            return {"type": "call_tool", "tool_name": call.name, "arguments": call.args}
        return dict(call.args)

    def _text(self, observation: Json) -> str:
        if not self._by_tools:
            return as_text(seen(observation))
        data, wrong = plain_result(observation.get("result"))
        error = observation.get("error")
        if error is not None:
            wrong = str(error.get("message") if isinstance(error, dict) else error)
        return as_text(data) if wrong is None else to_text({"error": wrong})

    def _answer(self, call: ToolCall, text: str) -> None:
        self.messages.append(
            {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text}
        )
