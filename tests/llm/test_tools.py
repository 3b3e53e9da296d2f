"""Tools and conversations in the forms of the vendors."""

from typing import Any

import pytest

from openenv.core.llm_client import (
    _clean_mcp_schema,
    _mcp_tools_to_anthropic,
    _mcp_tools_to_openai,
    _openai_msgs_to_anthropic,
)
from openenv.env.tool_models import Tool

A, B = {"type": "string"}, {"type": "integer"}
NOTHING = {"type": "object", "properties": {}, "required": []}


@pytest.mark.parametrize(
    ("schema", "clean"),
    [
        (None, NOTHING),
        ("text", NOTHING),
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": None}, {"type": "object", "properties": {}}),
        ({"properties": {"a": A}}, {"type": "object", "properties": {"a": A}}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, NOTHING),
        (
            {"oneOf": [{"type": "null"}, {"properties": {"a": A}, "required": ["a"]}]},
            {"type": "object", "properties": {"a": A}, "required": ["a"]},
        ),
        (
            {"allOf": [{"properties": {"a": A}}, {"properties": {"b": B}, "required": ["b"]}]},
            {"type": "object", "properties": {"a": A, "b": B}, "required": ["b"]},
        ),
        (
            {
                "properties": {"a": A},
                "oneOf": [{"properties": {"b": B}}],
                "$defs": {"X": A},
            },
            {
                "type": "object",
                "properties": {"a": A, "b": B},
                "required": [],
                "$defs": {"X": A},
            },
        ),
    ],
)
def test_a_schema_has_an_object_at_its_top(schema: Any, clean: dict[str, Any]) -> None:
    assert _clean_mcp_schema(schema) == clean


def test_a_schema_is_left_as_it_was() -> None:
    schema = {"properties": {"a": {"anyOf": [A, {"type": "null"}]}}, "additionalProperties": False}
    before = {**schema}
    assert _clean_mcp_schema(schema) == {"type": "object", **before}
    assert schema == before


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "description": "d", "inputSchema": {"properties": {"a": A}}},
        {"name": "f", "description": "d", "input_schema": {"properties": {"a": A}}},
        Tool(name="f", description="d", input_schema={"properties": {"a": A}}),
    ],
    ids=["mcp", "snake", "model"],
)
def test_a_tool_in_both_forms(tool: Any) -> None:
    schema = {"type": "object", "properties": {"a": A}}
    function = {"name": "f", "description": "d", "parameters": schema}
    assert _mcp_tools_to_openai([tool]) == [{"type": "function", "function": function}]
    assert _mcp_tools_to_anthropic([tool]) == [
        {"name": "f", "description": "d", "input_schema": schema}
    ]


def test_a_tool_without_words_and_one_without_a_name() -> None:
    assert _mcp_tools_to_anthropic([{"name": "f"}]) == [
        {"name": "f", "description": "", "input_schema": NOTHING}
    ]
    with pytest.raises(ValueError, match="no name"):
        _mcp_tools_to_openai([{"description": "d"}])


def called(id: str, arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def test_a_conversation() -> None:
    system, turns = _openai_msgs_to_anthropic(
        [
            {"role": "system", "content": "A"},
            {"role": "developer", "content": [{"type": "text", "text": "B"}]},
            {"role": "user", "content": "u"},
            {
                "role": "assistant",
                "content": "x",
                "tool_calls": [called("1", '{"a": 1}'), called("2", "oops")],
            },
            {"role": "tool", "tool_call_id": "1", "content": "r1"},
            {"role": "tool", "tool_call_id": "2", "content": "r2"},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "v"},
        ]
    )
    assert system == "A\n\nB"
    assert turns == [
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "2", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "r1"},
                {"type": "tool_result", "tool_use_id": "2", "content": "r2"},
            ],
        },
        {"role": "user", "content": "v"},
    ]


def test_a_call_alone_and_nothing_at_all() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [called("1", {"a": 1})]}
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}
    assert _openai_msgs_to_anthropic([message]) == ("", [{"role": "assistant", "content": [use]}])
    assert _openai_msgs_to_anthropic([]) == ("", [])


def test_a_role_that_is_none() -> None:
    with pytest.raises(ValueError, match="'narrator'"):
        _openai_msgs_to_anthropic([{"role": "narrator", "content": "b"}])
