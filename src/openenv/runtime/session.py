"""What each request means to an environment: the call into it, and the reply."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from openenv.env import rewards
from openenv.env.models import State, is_done, is_observation, pack, pack_state
from openenv.env.own_rubric import give_back
from openenv.env.spec import AnyEnvironment, EnvSpec, Traits
from openenv.env.tool_models import CallToolAction
from openenv.protocol.episode import Episode
from openenv.protocol.errors import (
    ENDING_CODES,
    EnvironmentFailed,
    InvalidRequest,
    Json,
    SessionError,
)
from openenv.protocol.messages import Reply, Request, as_tool_request, error_reply
from openenv.protocol.saying import authors_traceback
from openenv.protocol.wire import ResetRequest, ServerMode
from openenv.runtime.disclosure import disclosed
from openenv.runtime.faults import (
    Call,
    contained,
    failed,
    invalid,
    is_awaitable,
)
from openenv.runtime.limits import Limits
from openenv.runtime.tooling import Tooling, has_run
from openenv.runtime.view import view_of, view_reply

logger = logging.getLogger("openenv.session")

_CLOSE_FAILED = "%s.close() failed"
Answer = Callable[[object, bool], Reply]
"""Makes the reply of what a call gave; whether as MessagePack."""

_STANDARD = frozenset({"seed", "episode_id"})
"""Keywords that any caller sends to any environment."""
_ADVICE: dict[type, str] = {
    tuple: ": return {0}(..., reward=..., done=...), not Gymnasium's tuple",
    dict: ": return {0}(**fields), not the bare fields",
    type(None): ": is a `return` missing?",
}


class Session:
    """One client's hold on one environment: it turns requests into calls and results into replies.

    It holds no thread, clock or socket. A host builds it where the environment lives and asks it
    there.
    """

    def __init__(
        self,
        environment: AnyEnvironment,
        spec: EnvSpec,
        *,
        tracebacks: bool = False,
        mode: ServerMode = ServerMode.SIMULATION,
        tool_timeout: float | None = Limits.tool_timeout,
    ) -> None:
        self.environment = environment
        self._traits = _traits(environment, spec)
        self._mode = mode
        self._spec = spec
        self._episode = Episode()
        self._tracebacks = tracebacks
        self._dropped: set[str] = set()
        self._shown: object = None
        known = self._traits.step_keywords
        self._takes_timeout = known is None or "timeout_s" in known
        if not self._traits.keeps_state:
            self._state: State = spec.state()
            environment.__dict__["_session_state"] = self._state
        environment.__dict__["_mode"] = mode.value
        environment.__dict__["_tool_timeout"] = tool_timeout  # of its own agent's calls, too
        self._of_message = _of_message(environment, spec)
        self.tooling = Tooling(environment, self._traits, self._step_of(environment), mode)

    def serve(self, request: Request) -> Reply | Coroutine[Any, Any, Reply]:
        """Answers a request: at once, or with something to await if the environment awaits.

        Whatever goes wrong becomes an `error` reply; the session lives.
        """
        if self._traits.has_tools:
            request = as_tool_request(request, untyped=self._traits.untyped_calls)
        operation = request.op
        try:
            call, answer = self._understood(request)
            try:
                value = contained(call)
            except Exception as error:  # noqa: BLE001  # every failure is answered
                return error_reply(disclosed(self._typed(operation, error), self._mode))
            if is_awaitable(value):
                return self._answer_later(request, value, answer)
            return self._reply(request, value, answer)
        except SessionError as error:
            return error_reply(disclosed(error, self._mode))

    def close(self) -> Coroutine[Any, Any, None] | None:
        """Closes the environment; its own failure to do so is logged and ends nothing else."""
        if self._spec.shared:
            return None
        give_back(self.environment)
        return closing(self.environment)

    async def _answer_later(
        self, request: Request, pending: Awaitable[object], answer: Answer
    ) -> Reply:
        try:
            try:
                value = await pending
            except Exception as error:  # noqa: BLE001  # every failure is answered
                return error_reply(disclosed(self._typed(request.op, error), self._mode))
            return self._reply(request, value, answer)
        except SessionError as error:
            return error_reply(disclosed(error, self._mode))

    def _understood(self, request: Request) -> tuple[Call, Answer]:
        """The call that a request means, and what makes the reply of what it gives."""
        operation = request.op
        if operation == "step":
            return rewards.scoring(self.environment, self._step(request)), self._stepped
        if operation == "reset":
            return self._reset(request.data), self._was_reset
        if operation == "list_tools":
            return self.tooling.listing(), self._listed
        if operation == "call_tool":
            self._require_episode()
            calling = self.tooling.calling(request)
            return rewards.scoring(self.environment, calling), self._was_called
        if operation == "turn":
            return rewards.scoring(self.environment, self._turn(request)), self._stepped
        return self._looking(operation)

    def _looking(self, operation: str) -> tuple[Call, Answer]:
        """The same of what changes nothing in the episode."""
        if operation == "view":
            shown, self._shown = self._shown, None
            return partial(view_of, self.environment, shown), view_reply
        return self._get_state, self._seen

    def _typed(self, operation: str, error: Exception) -> SessionError:
        """An exception of the author's code as one that can cross the wire."""
        if not isinstance(error, SessionError) or error.code in ENDING_CODES:
            failure = self._failed(operation, error)
            failure.__cause__ = error  # never its own: a cycle would keep what the frames hold
            return failure
        if isinstance(error, EnvironmentFailed):
            self._log(operation, error)
        return error

    def _reply(self, request: Request, value: object, answer: Answer) -> Reply:
        """The reply of what a call gave, which may be nothing that can be sent."""
        if request.view:
            self._shown = value
        try:
            return answer(value, request.binary)
        except EnvironmentFailed as error:
            self._log(request.op, error)
            raise

    def _log(self, operation: str, error: EnvironmentFailed) -> None:
        logger.warning("%s.%s() failed: %s", self._spec.name, operation, str(error))

    def _step(self, request: Request) -> Call:
        """The call that takes a step, of a valid action in a running episode."""
        action = self._parse_action(request.data)
        self._require_episode()
        timeout_s = request.timeout_s
        step = self._step_of(self.environment)
        if timeout_s is not None and self._takes_timeout:
            return partial(step, action, timeout_s=timeout_s)
        return partial(step, action)

    def _step_of(self, environment: AnyEnvironment) -> Callable[..., Any]:
        return environment.step_async if self._traits.is_async else environment.step

    def _require_episode(self) -> None:
        if self._traits.requires_reset:
            self._episode.require_running()

    def _turn(self, request: Request) -> Call:
        """The call that has the agent in the environment take a turn."""
        if not self._traits.is_harness:
            raise InvalidRequest(f"{self._spec.name} has no agent of its own to take a turn")
        self._require_episode()
        take: Any = self.environment
        return partial(take.turn_async, request.data.get("message"), request.emit)

    def _was_called(self, observation: object, binary: bool) -> Reply:
        if has_run(observation):
            return self._stepped(observation, binary)
        return self._listed(observation, binary)

    def _listed(self, observation: object, binary: bool) -> Reply:
        if not is_observation(observation):
            raise self._wrong("step", observation)
        return Reply("observation", pack(observation, binary), binary=binary)

    def _stepped(self, observation: object, binary: bool) -> Reply:
        if not is_observation(observation):
            raise self._wrong("step", observation)
        self._episode.stepped(done=is_done(observation))
        if not self._traits.keeps_state:  # a count needs no validation, which would cost a step
            self._state.__dict__["step_count"] = self._episode.step_count
        return Reply("observation", pack(observation, binary), binary=binary)

    def _parse_action(self, data: Json) -> Any:
        try:
            if self._of_message is not None and data.keys() == {"message"}:
                return _an_action(self._of_message(data["message"]))
            return self._spec.parse_action(data)
        except ValidationError as error:
            raise invalid(error, f"action for {self._spec.name}") from None
        except Exception as error:
            raise failed(error, "step", tracebacks=self._tracebacks) from error

    def _reset(self, data: Json) -> Call:
        """The call that begins an episode, with the keywords that the environment takes."""
        if not isinstance(data, dict):
            raise InvalidRequest(
                f"Invalid reset: its data must be an object, got {type(data).__name__}", errors=[]
            )
        if data:
            try:
                asked = ResetRequest.model_validate(data)
            except ValidationError as error:
                raise invalid(error, "reset") from None
            data = {**data, **({"seed": asked.seed} if "seed" in data else {})}
        keywords = self._accepted(rewards.explaining(self.environment, data))
        environment = self.environment
        reset = environment.reset_async if self._traits.is_async else environment.reset
        self._episode = Episode()  # a reset that fails leaves no episode to go on with
        if not self._traits.keeps_state:
            self._state = self._spec.state(episode_id=data.get("episode_id") or str(uuid.uuid4()))
            environment.__dict__["_session_state"] = self._state
        return rewards.beginning(environment, partial(reset, **keywords))

    def _was_reset(self, observation: object, binary: bool) -> Reply:
        if not is_observation(observation):
            raise self._wrong("reset", observation)
        self._episode.began()
        return Reply("observation", pack(observation, binary), binary=binary)

    def _get_state(self) -> object:
        state: Any = self.environment.state
        return state() if callable(state) else state

    def _seen(self, state: object, binary: bool) -> Reply:
        if not isinstance(state, BaseModel):
            raise self._wrong("state", state)
        return Reply("state", pack_state(state, binary), binary=binary)

    def _failed(self, operation: str, error: Exception) -> EnvironmentFailed:
        if self._mode is ServerMode.SIMULATION:  # else it is an incident
            logger.warning(
                "%s.%s() raised\n%s", self._spec.name, operation, authors_traceback(error).rstrip()
            )
        return failed(error, operation, tracebacks=self._tracebacks)

    def _accepted(self, data: Json) -> Json:
        """The reset keywords that the environment takes; the others are dropped.

        Those that only some environments know are said once.
        """
        known = self._traits.reset_keywords
        if known is None or data.keys() <= known:
            return data
        for name in data.keys() - known - self._dropped - _STANDARD:
            if data[name] is not None:
                self._dropped.add(name)
                logger.warning(
                    "%s.reset() takes no %r: it was left out (it takes: %s)",
                    self._spec.name,
                    name,
                    ", ".join(sorted(known)) or "nothing",
                )
        return {name: value for name, value in data.items() if name in known}

    def _wrong(self, name: str, returned: object) -> EnvironmentFailed:
        of_state = name == "state"
        first = self._spec.reset_observation if name == "reset" else None
        wanted = self._spec.state if of_state else first or self._spec.observation
        advice = _ADVICE.get(type(returned), "").format(wanted.__name__)
        return EnvironmentFailed(
            f"{self._spec.name}.{name} must give {'a State' if of_state else 'an Observation'}, "
            f"got {type(returned).__name__}{advice}",
            operation=name,
        )


def _of_message(environment: AnyEnvironment, spec: EnvSpec) -> Callable[[Any], Any] | None:
    """What makes an action of a message, where the environment does and no action says it so."""
    if "message" in getattr(spec.action, "model_fields", {}):
        return None
    return getattr(environment, "message_to_action", None)


def _an_action(made: object) -> BaseModel:
    """What `message_to_action` gave, which must not reach a step if it is something else.

    Raises:
        TypeError: it is.
    """
    if isinstance(made, BaseModel):
        return made
    if isinstance(made, Coroutine):
        made.close()
    raise TypeError(f"message_to_action must give an action, got {type(made).__name__}")


def _traits(environment: AnyEnvironment, spec: EnvSpec) -> Traits:
    """What an instance's own class says of it, and its server of how its tools are called."""
    own = Traits.of(type(environment))
    if own.untyped_calls and spec.action is not CallToolAction:
        own = replace(own, untyped_calls=False)
    if spec.traits.has_tools and not own.has_tools:
        return replace(own, has_tools=True, steps_tool_calls=spec.traits.steps_tool_calls)
    return own


def closing(environment: AnyEnvironment) -> Coroutine[Any, Any, None] | None:
    """Closes an environment, or gives what does so when awaited; its failure to is logged."""
    name = type(environment).__name__
    try:
        value = contained(environment.close)
    except Exception:
        logger.warning(_CLOSE_FAILED, name, exc_info=True)
        return None
    return _closing_later(name, value) if is_awaitable(value) else None


async def _closing_later(name: str, pending: Awaitable[object]) -> None:
    try:
        await pending
    except Exception:
        logger.warning(_CLOSE_FAILED, name, exc_info=True)
