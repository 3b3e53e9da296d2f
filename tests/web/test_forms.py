"""Filling in forms: what is typed is what is sent, exactly; what is wrong is said where it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from playwright.sync_api import Locator, expect
from pydantic import BaseModel, Field, field_validator

from openenv import Action, Environment, Observation, State
from tests.web.conftest import Visit
from tests.web.places import served_page
from tests.web.visitor import Visitor

HUGE = 123456789012345678901234567890


class Circle(BaseModel):
    """A round one."""

    kind: Literal["circle"] = "circle"
    radius: float = Field(gt=0)

    @field_validator("radius")
    @classmethod
    def _fits(cls, radius: float) -> float:
        if radius > 5:
            raise ValueError("the table is too small for it")
        return radius


class Square(BaseModel):
    """One with corners."""

    kind: Literal["square"] = "square"
    side: int = Field(ge=1, le=9)


class Lay(Action):
    """Lays something on the table.

    Attributes:
        amount: how many of `shape`.
    """

    shape: Annotated[Circle | Square, Field(discriminator="kind")]
    amount: int = 1
    tags: list[str] = Field(default_factory=list, max_length=4)
    numbers: list[float] = Field(default_factory=list)
    scores: dict[str, int] = Field(default_factory=dict)
    anything: Any = None


class Laid(Observation):
    """What was laid."""

    got: str = ""


class Table(Environment[Lay, Laid, State]):
    """Says what it was told."""

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Laid:
        """An empty table."""
        return Laid(got=f"reset {json.dumps(kwargs)}")

    def step(self, action: Lay, timeout_s: float | None = None, **kwargs: Any) -> Laid:
        """Lays it."""
        return Laid(got=f"laid {json.dumps(action.model_dump(mode='json', exclude_unset=True))}")

    @property
    def state(self) -> State:
        """Nothing to know."""
        return State()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the table is."""
    with served_page(Table) as address:
        yield address


@pytest.fixture
def visitor(visit: Visit, address: str) -> Visitor:
    """Somebody who has begun an episode at the table."""
    visitor = visit(address)
    visitor.reset()
    return visitor


def button(visitor: Visitor, name: str) -> Locator:
    """A button of the form."""
    return visitor.actions.get_by_role("button", name=name, exact=True)


def laid(visitor: Visitor, **fields: Any) -> None:
    """Takes the step, which lays just this."""
    visitor.step()
    visitor.sees(f"laid {json.dumps(fields)}")


def test_a_number_of_any_size_arrives_as_it_was_typed(visitor: Visitor) -> None:
    visitor.fill("Radius", "2.50")
    visitor.fill("Amount", HUGE)
    laid(visitor, shape={"kind": "circle", "radius": 2.5}, amount=HUGE)
    expect(visitor.field("Radius")).to_have_value("2.50")


def test_a_list_is_filled_moved_and_shortened(visitor: Visitor) -> None:
    visitor.fill("Radius", 1)
    button(visitor, "Set Tags").click()
    for tag in ["one", "two", "three", "four"]:
        button(visitor, "Add to Tags").click()
        expect(visitor.actions.locator("input:focus")).to_have_value("")
        visitor.page.keyboard.type(tag)
    expect(button(visitor, "Add to Tags")).to_be_disabled()
    button(visitor, "Move Tags 1 down").click()
    button(visitor, "Remove Tags 3").click()
    expect(button(visitor, "Remove Tags 3")).to_be_focused()
    laid(visitor, shape={"kind": "circle", "radius": 1.0}, tags=["two", "one", "four"])


def test_a_pasted_row_of_numbers_fills_a_list(visitor: Visitor) -> None:
    visitor.fill("Radius", 1)
    button(visitor, "Set Numbers").click()
    button(visitor, "Add to Numbers").click()
    visitor.field("Numbers 1").evaluate(
        """field => {
            const data = new DataTransfer();
            data.setData("text", "[0.5, -1, 2e3]");
            const options = {clipboardData: data, bubbles: true, cancelable: true};
            field.dispatchEvent(new ClipboardEvent("paste", options));
        }"""
    )
    laid(visitor, shape={"kind": "circle", "radius": 1.0}, numbers=[0.5, -1.0, 2000.0])


def test_keys_are_named_and_named_once(visitor: Visitor) -> None:
    visitor.fill("Radius", 1)
    button(visitor, "Set Scores").click()
    for name, score in [("zoe", "1"), ("10", "2")]:
        button(visitor, "Add to Scores").click()
        expect(visitor.actions.get_by_label("Key key", exact=True)).to_be_focused()
        visitor.page.keyboard.type(name)
        visitor.page.keyboard.press("Tab")
        visitor.actions.get_by_label(re.compile(f"^value of {name}")).fill(score)
    button(visitor, "Add to Scores").click()
    visitor.page.keyboard.type("zoe")
    visitor.page.keyboard.press("Control+Enter")
    expect(visitor.actions).to_contain_text("There already is one.")
    expect(visitor.entries).to_have_count(1)
    button(visitor, "Remove key").click()
    laid(visitor, shape={"kind": "circle", "radius": 1.0}, scores={"10": 2, "zoe": 1})


def test_each_kind_of_a_union_remembers_what_was_typed(visitor: Visitor) -> None:
    visitor.fill("Radius", 4)
    visitor.choose_kind("Shape", "square")
    visitor.fill("Side", 3)
    visitor.choose_kind("Shape", "circle")
    expect(visitor.field("Radius")).to_have_value("4")
    visitor.choose_kind("Shape", "square")
    laid(visitor, shape={"kind": "square", "side": 3})


def test_the_servers_fault_is_at_its_field_until_that_changes(visitor: Visitor) -> None:
    visitor.fill("Radius", 9)
    visitor.step()
    radius = visitor.field("Radius")
    expect(radius).to_have_attribute("aria-invalid", "true")
    expect(radius).to_be_focused()
    expect(radius).to_have_accessible_description(re.compile("the table is too small for it"))
    radius.fill("5")
    expect(radius).not_to_have_attribute("aria-invalid", "true")
    laid(visitor, shape={"kind": "circle", "radius": 5.0})


def test_what_the_check_refuses_can_be_tried_on_the_server(visitor: Visitor) -> None:
    visitor.choose_kind("Shape", "square")
    visitor.fill("Side", 10)
    visitor.step_button.click()
    expect(visitor.actions).to_contain_text("must be at most 9, got 10")
    expect(visitor.entries).to_have_count(1)
    button(visitor, "Send anyway").click()
    expect(visitor.entries).to_have_count(2)
    expect(visitor.actions).to_contain_text("less than or equal to 9")


def test_text_that_is_no_json_is_neither_sent_nor_lost(visitor: Visitor) -> None:
    visitor.fill("Radius", 1)
    button(visitor, "JSON").click()
    editor = visitor.actions.get_by_label("The action as JSON")
    shape = {"kind": "circle", "radius": 1}
    assert json.loads(editor.input_value()) == {"shape": shape}
    editor.fill('{\n  "shape": {"kind": "circle", "radius": 1},\n  "amount": }')
    expect(visitor.actions).to_contain_text("Line 3: a value is expected")
    editor.press("Control+Enter")
    button(visitor, "JSON").click()
    expect(editor).to_have_value(re.compile('"amount": }$'))
    expect(visitor.entries).to_have_count(1)
    editor.fill(json.dumps({"shape": shape, "amount": 2, "anything": [None, {"a": 1}]}))
    button(visitor, "JSON").click()
    expect(visitor.field("Amount")).to_have_value("2")
    laid(
        visitor,
        shape={"kind": "circle", "radius": 1.0},
        amount=2,
        anything=[None, {"a": 1}],
    )


def test_what_was_being_typed_is_there_again_after_a_look_back(visitor: Visitor) -> None:
    radius = visitor.field("Radius")
    for size in ["1", "2"]:
        visitor.fill("Radius", size)
        visitor.step()
        visitor.sees(f'"radius": {size}.0')
    radius.fill("3")
    for key, value in [("Up", "2"), ("Up", "1"), ("Up", "1"), ("Down", "2"), ("Down", "3")]:
        radius.press(f"Arrow{key}")
        expect(radius).to_have_value(value)
    expect(radius).to_be_focused()


def test_a_reset_takes_what_no_schema_names(visitor: Visitor) -> None:
    visitor.actions.get_by_text("Options", exact=True).click()
    button(visitor, "Add another field").click()
    visitor.page.keyboard.type("cloth")
    visitor.page.keyboard.press("Tab")
    visitor.actions.get_by_label(re.compile("^value of cloth")).fill('"red"')
    visitor.reset()
    visitor.sees('reset {"cloth": "red"}')
