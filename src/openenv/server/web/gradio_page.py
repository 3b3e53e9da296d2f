"""A Gradio page for any environment: forms on the left, what followed on the right."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from openenv.env.metadata import EnvironmentMetadata
from openenv.protocol.errors import InvalidRequest, Json, OpenEnvError
from openenv.server.web.action_fields import Field
from openenv.server.web.gradio_theme import gradio
from openenv.server.web.manager import WebInterfaceManager

_TITLE = "OpenEnv Environment"
_BEFORE = "Reset to begin."
_SHOWN_LOGS = 50
Shown = tuple[str, Any, Any, Any]
"""A line about what happened, the observation, the log, the state."""


def get_gradio_display_title(metadata: EnvironmentMetadata | None, fallback: str = _TITLE) -> str:
    """A page's title.

    Args:
        metadata: the environment's card.
        fallback: the title without one.
    """
    named = metadata is not None and metadata.name
    return f"OpenEnv Agentic Environment: {named}" if named else fallback


def build_gradio_app(
    web_manager: WebInterfaceManager,
    action_fields: Sequence[Field],
    metadata: EnvironmentMetadata | None,
    is_chat_env: bool,
    title: str = _TITLE,
    quick_start_md: str | None = None,
) -> Any:
    """A page to reset, step and look at the shared episode; its calls are `reset` and `step`.

    Args:
        web_manager: plays.
        action_fields: what the form has; see `action_fields`.
        metadata: the environment's card, of which the README is shown.
        is_chat_env: the form is one message.
        title: of the page.
        quick_start_md: shown above the README.

    Returns:
        A `gradio.Blocks`.

    Raises:
        MissingPackage: Gradio is not installed.
    """
    gr = gradio()
    fields = [_MESSAGE] if is_chat_env else list(action_fields)
    play = _Play(web_manager, fields)
    with gr.Blocks(title=title, analytics_enabled=False) as page:
        gr.Markdown(f"# {title}")
        with gr.Row():
            with gr.Column():
                options = gr.Textbox(label="Reset with (JSON)", placeholder='{"seed": 1}')
                reset = gr.Button("Reset")
                inputs = [_component(gr, field) for field in fields] or [_raw(gr)]
                step = gr.Button("Step", variant="primary")
            with gr.Column():
                status = gr.Markdown(_BEFORE, elem_classes="openenv-facts")
                observation = gr.JSON(label="Observation")
                with gr.Accordion("Actions", open=False):
                    logs = gr.JSON(label="The newest first")
                with gr.Accordion("State", open=False):
                    state = gr.JSON(label="State")
        _texts(gr, metadata, quick_start_md)
        shown = [status, observation, logs, state]
        reset.click(play.reset, options, shown, api_name="reset")
        step.click(play.step, inputs, shown, api_name="step")
        page.load(play.now, None, shown, api_name="now")
    return page


_MESSAGE: Field = {
    "name": "message",
    "type": "textarea",
    "required": True,
    "default_value": None,
    "choices": None,
    "placeholder": "Say something...",
    "help_text": "",
}


class _Play:
    """What the page's buttons do."""

    def __init__(self, web_manager: WebInterfaceManager, fields: Sequence[Field]) -> None:
        self._manager = web_manager
        self._fields = fields

    async def reset(self, options: str | None) -> Shown:
        return await self._shown(lambda: self._manager.reset_environment(_object(options)))

    async def step(self, *values: Any) -> Shown:
        return await self._shown(lambda: self._manager.step_environment(self._action(values)))

    async def now(self) -> Shown:
        return self._all("")

    async def _shown(self, play: Callable[[], Any]) -> Shown:
        try:
            await play()
        except OpenEnvError as error:
            return self._all(f"**{type(error).__name__}**: {error}")
        return self._all("")

    def _action(self, values: Sequence[Any]) -> Json:
        if not self._fields:
            return _object(values[0])
        pairs = zip(self._fields, values, strict=True)
        given = {field["name"]: _read(field, value) for field, value in pairs}
        return {name: value for name, value in given.items() if value is not None}

    def _all(self, fault: str) -> Shown:
        record = self._manager.episode_state
        newest = record.action_logs[-1] if record.action_logs else None
        facts = _BEFORE if record.current_observation is None else f"Step {record.step_count}"
        if newest is not None:
            facts += f" · reward {newest.reward}{' · done' if newest.done else ''}"
        logs = [log.model_dump() for log in record.action_logs[: -_SHOWN_LOGS - 1 : -1]]
        state: Any = None
        with suppress(OpenEnvError):
            state = self._manager.get_state()
        return fault or facts, record.current_observation, logs, state


def _component(gr: Any, field: Field) -> Any:
    named = {"label": field["name"], "info": field["help_text"] or None}
    first = field["default_value"]
    if field["type"] == "select":
        return gr.Dropdown(field["choices"], value=first, **named)
    if field["type"] == "checkbox":
        return gr.Checkbox(bool(first), **named)
    if field["type"] == "number":
        return gr.Number(first, **named)
    lines = 4 if field["type"] == "textarea" else 1
    text = first if isinstance(first, str) or first is None else json.dumps(first)
    return gr.Textbox(text, lines=lines, placeholder=field["placeholder"], **named)


def _raw(gr: Any) -> Any:
    return gr.Code(label="Action (JSON)", language="json", value="{}")


def _texts(gr: Any, metadata: EnvironmentMetadata | None, quick_start_md: str | None) -> None:
    if quick_start_md:
        with gr.Accordion("Python", open=False):
            gr.Markdown(quick_start_md)
    if metadata is not None and metadata.readme_content:
        with gr.Accordion("README", open=False):
            gr.Markdown(metadata.readme_content)


def _read(field: Field, value: Any) -> Any:
    """A field's value; nothing for what was left empty, and JSON where the field wants that."""
    if value is None or (value == "" and not field["required"]):
        return None
    if field["type"] == "number" and isinstance(value, float) and value.is_integer():
        return int(value)
    if field["type"] == "text" and isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _object(text: str | None) -> Json:
    if not text or not text.strip():
        return {}
    try:
        read = json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"this is no JSON: {error}", errors=[]) from None
    if not isinstance(read, dict):
        raise InvalidRequest(f"this must be a JSON object, got {type(read).__name__}", errors=[])
    return read
