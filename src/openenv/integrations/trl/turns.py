"""The model's turns of one rollout: conversations as tokens, and tokens as calls of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from openenv.harness.rollouts.results import Message, ModelStepResult
from openenv.harness.rollouts.tokens import TokenSequence
from openenv.integrations.trl.functions import method_of
from openenv.integrations.trl.rounds import Sampled, Wanted
from openenv.integrations.trl.sampling import sampler
from openenv.llm.responses import LLMResponse, ToolCall
from openenv.protocol.errors import ConfigurationError, Json
from openenv.protocol.extras import needs

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool

_ASKED: Message = {"role": "user", "content": "-"}


class Script:
    """How a trainer's tokenizer writes conversations and reads what the model says.

    Args:
        trainer: a `GRPOTrainer`, or what has its `args`, `model` and `processing_class`.

    Attributes:
        most: tokens of an episode after its prompt, what the tools say among them.
        context: tokens that the model can look back on, the prompt's among them.

    Raises:
        MissingPackage: TRL is not installed.
        ValueError: TRL does not know the chat template.
    """

    def __init__(self, trainer: Any) -> None:
        with needs("openenv-core[trl]"):
            self._trl: Any = import_module("trl.chat_template_utils")
            self._schema_of: Any = import_module("transformers.utils").get_json_schema
        # Before 1.16, as Unsloth wants it, TRL reads calls without being told the tools.
        self._reads_by = signature(self._trl.parse_response).parameters.keys()
        self._writer = trainer.processing_class
        self._tokenizer = getattr(self._writer, "tokenizer", self._writer)
        self._options = trainer.args.chat_template_kwargs or {}
        if not any(
            getattr(self._tokenizer, f"response_{kind}", None) for kind in ("template", "schema")
        ):
            self._trl.add_response_schema(self._writer)
        self.most: int = trainer.args.max_completion_length
        config = trainer.model.config
        self.context: int = getattr(config, "text_config", config).max_position_embeddings

    def described(self, tools: Sequence[Tool]) -> list[Json]:
        """What the model is told of tools: the same as by `environment_factory`."""
        return [self._schema_of(method_of(tool)) for tool in tools]

    def prompt(self, messages: list[Message], tools: list[Json] | None = None) -> list[int]:
        """The tokens of a conversation, up to where the model is to speak."""
        return self._tokens(messages, tools, add_generation_prompt=True)

    def told(self, results: list[Message]) -> list[int]:
        """The tokens between the end of a turn that calls tools, and the next turn."""
        function = {"name": results[0]["name"], "arguments": {}}
        calling = {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "function": function}],
        }
        before = self._tokens([_ASKED, calling], None, add_generation_prompt=False)
        after = self.prompt([_ASKED, calling, *results])
        end = self._tokenizer.eos_token_id
        if end in before:  # the model has said it; what templates put behind it, it has not
            before = before[: len(before) - before[::-1].index(end)]
        if after[: len(before)] != before:
            raise ConfigurationError(
                "the chat template writes a call of a tool differently once its result is there, "
                "so that no tokens follow from it: use TRL's template of this model for training"
            )
        return after[len(before) :]

    def blank(self, messages: list[Message]) -> TokenSequence:
        """A rollout in which the model said nothing; TRL wants a token all the same."""
        end: int = self._tokenizer.eos_token_id
        return TokenSequence(self.prompt(messages), [end], [0.0], [0])

    def response(self, sampled: Sampled, prompt: list[int], tools: list[Json]) -> LLMResponse:
        """What the model says and calls by its tokens."""
        context = {"prefix": prompt, "tools": tools}
        known = {name: value for name, value in context.items() if name in self._reads_by}
        said = self._trl.parse_response(self._tokenizer, sampled.ids, **known)
        called = [each.get("function", each) for each in said.get("tool_calls") or []]
        calls = [
            ToolCall.written(f"call_{number}", call["name"], call.get("arguments"))
            for number, call in enumerate(called)
        ]
        return LLMResponse(said.get("content") or "", calls)

    def _tokens(
        self, messages: list[Message], tools: list[Json] | None, *, add_generation_prompt: bool
    ) -> list[int]:
        written: list[int] = self._writer.apply_chat_template(
            messages,
            tools=tools or None,
            add_generation_prompt=add_generation_prompt,
            tokenize=True,
            return_dict=False,
            **self._options,
        )
        return written


class Turns:
    """A model's step (see `ModelStep`) that keeps the tokens of its rollout.

    Each turn's prompt is all the tokens so far and those of the tools' results: nothing is
    tokenised anew, so what is trained on is what the model saw. When the episode is as long as it
    may be, the model is not asked again.

    Args:
        script: how conversations are written.
        take: samples a turn.
    """

    def __init__(self, script: Script, take: Callable[[Wanted], Sampled]) -> None:
        self._script = script
        self._take = take
        self._whole: list[int] = []
        self._start = self._read = 0

    def __call__(
        self, messages: list[Message], tools: list[Tool], sampling: Json
    ) -> ModelStepResult:
        """Takes a turn."""
        described = self._script.described(tools)
        prompt = self._prompt(messages, described)
        most = self._script.most - (len(prompt) - self._start)
        most = min(most, self._script.context - len(prompt))
        if most <= 0:
            return ModelStepResult(LLMResponse(""), self._whole)
        sampled = self._take(Wanted(prompt, most))
        self._whole = [*prompt, *sampled.ids]
        self._read = len(messages) + 1
        response = self._script.response(sampled, prompt, described)
        return ModelStepResult(response, prompt, sampled.ids, sampled.logprobs)

    def _prompt(self, messages: list[Message], tools: list[Json]) -> list[int]:
        if self._whole:
            return [*self._whole, *self._script.told(messages[self._read :])]
        prompt = self._script.prompt(messages, tools)
        if len(prompt) >= self._script.context:
            raise ConfigurationError(
                f"a prompt has {len(prompt)} tokens, and the model can look back on "
                f"{self._script.context}: shorten the task, or what is told of the observation"
            )
        self._start = len(prompt)
        return prompt


def trainer_model_step(trainer: Any, session: object = None) -> Turns:
    """A model's step of one rollout, by a trainer's own model: one turn after another.

    For `build_harness_rollout_func(model_step_builder=trainer_model_step, …)`, where sessions or
    the loop are to be your own. `rollout_func` plays all rollouts at once.

    Args:
        trainer: the `GRPOTrainer`.
        session: the episode, of which nothing need be known.

    Raises:
        ConfigurationError: the model is served by vLLM.
    """
    sample = sampler(trainer)
    return Turns(Script(trainer), lambda wanted: sample([wanted])[0])
