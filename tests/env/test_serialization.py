"""Actions of tools, from data that say so themselves."""

import pytest
from pydantic import BaseModel, ValidationError

from openenv import Action
from openenv.core.env_server.mcp_types import CallToolAction, ListToolsAction
from openenv.core.env_server.serialization import deserialize_action


class Own(CallToolAction):
    """A class of an environment's own, which is its own affair."""


@pytest.mark.parametrize("asked", [Action, CallToolAction, ListToolsAction])
def test_the_type_names_the_class(asked: type[BaseModel]) -> None:
    assert type(deserialize_action({"type": "list_tools"}, asked)) is ListToolsAction
    called = deserialize_action({"type": "call_tool", "tool_name": "add"}, asked)
    assert isinstance(called, CallToolAction)
    assert (called.tool_name, called.arguments) == ("add", {})


def test_other_classes_are_what_they_are() -> None:
    assert type(deserialize_action({"tool_name": "add"}, Own)) is Own
    assert type(deserialize_action({"tool_name": "add"}, CallToolAction)) is CallToolAction
    with pytest.raises(ValidationError):
        deserialize_action({"type": "list_tools"}, Own)
