"""Tools and conversations, from the forms of MCP and OpenAI to that of each vendor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openenv.llm.responses import ToolCall
from openenv.protocol.errors import ConfigurationError

Message = dict[str, Any]


def openai_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Tools in OpenAI's form.

    Args:
        tools: as MCP describes them: dicts, or objects such as `Tool`, with `name`, `description`
            and `input_schema` or `inputSchema`.

    Raises:
        ConfigurationError: one has no name.
    """
    return [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }
        for name, description, schema in map(_described, tools)
    ]


def anthropic_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Tools in Anthropic's form; otherwise as `openai_tools`."""
    return [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in map(_described, tools)
    ]


def clean_schema(schema: Any) -> dict[str, Any]:
    """A tool's schema as the vendors take it: an object, with no alternatives at its top.

    Args:
        schema: a JSON schema. Parts under `allOf` are put together; of `oneOf` and `anyOf` the
            first object is taken. What is no schema stands for a tool without arguments.
    """
    if not isinstance(schema, Mapping):
        return {"type": "object", "properties": {}, "required": []}
    clean = {key: value for key, value in schema.items() if value is not None}
    chosen = [_first_object(clean.pop(key)) for key in ("oneOf", "anyOf") if key in clean]
    parts = [*clean.pop("allOf", []), *chosen]
    if parts:
        clean = _together([clean, *map(clean_schema, parts)])
    clean.setdefault("type", "object")
    if clean["type"] == "object":
        clean.setdefault("properties", {})
    return clean


def anthropic_messages(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """A conversation in Anthropic's form.

    Results of tools that follow each other become one message. An assistant's message that says
    and calls nothing is left out: the server would refuse it.

    Args:
        messages: the conversation in OpenAI's form.

    Returns:
        The text of all system messages, and the other messages.

    Raises:
        ConfigurationError: a message has a role that is none.
    """
    system: list[str] = []
    turns: list[Message] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            system.append(_text(message.get("content")))
        elif role == "tool":
            _add_result(turns, message)
        elif role == "assistant":
            turns += _assistant(message)
        elif role == "user":
            turns.append({"role": "user", "content": message.get("content")})
        else:
            raise ConfigurationError(
                f"a message has the role {role!r}; give system, user, assistant or tool"
            )
    return "\n\n".join(system), turns


def _described(tool: Any) -> tuple[str, str, dict[str, Any]]:
    fields = tool if isinstance(tool, Mapping) else _fields(tool)
    if not fields.get("name"):
        raise ConfigurationError(f"a tool has no name: {tool!r:.200}")
    schema = fields.get("inputSchema")
    schema = fields.get("input_schema") if schema is None else schema
    return str(fields["name"]), str(fields.get("description") or ""), clean_schema(schema)


def _fields(tool: Any) -> dict[str, Any]:
    names = ("name", "description", "inputSchema", "input_schema")
    return {name: getattr(tool, name, None) for name in names}


def _first_object(branches: Any) -> Any:
    fitting = (each for each in branches if isinstance(each, Mapping) and _is_object(each))
    return next(fitting, None)


def _is_object(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("type", "object") == "object")


def _together(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema that asks for what all of them ask for; the first says the rest."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for schema in schemas:
        properties |= schema.get("properties", {})
        required += [name for name in schema.get("required", []) if name not in required]
    return {**schemas[0], "type": "object", "properties": properties, "required": required}


def _add_result(turns: list[Message], message: Message) -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": message.get("tool_call_id"),
        "content": message.get("content"),
    }
    before = turns[-1]["content"] if turns and turns[-1]["role"] == "user" else None
    if isinstance(before, list) and before and before[-1].get("type") == "tool_result":
        before.append(result)
    else:
        turns.append({"role": "user", "content": [result]})


def _assistant(message: Message) -> list[Message]:
    content, calls = message.get("content"), message.get("tool_calls") or []
    if not calls:
        return [{"role": "assistant", "content": content}] if content else []
    said = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    return [{"role": "assistant", "content": [*(said or []), *map(_tool_use, calls)]}]


def _tool_use(call: Message) -> Message:
    function = call["function"]
    read = ToolCall.written(call["id"], function["name"], function.get("arguments"))
    return {"type": "tool_use", "id": read.id, "name": read.name, "input": read.args}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])
