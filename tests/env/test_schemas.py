"""Walks over pydantic's core schemas."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel, TypeAdapter, model_validator

from openenv.env.models import Observation, pack, validate
from openenv.env.schemas import nodes, own_nodes, reachable, schema_of
from openenv.env.validation import is_strict
from openenv.protocol.msgpack import decode_msgpack


class Cat(BaseModel):
    type: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    type: Literal["dog"] = "dog"
    name: bytes = b""


class Misnamed(Observation):
    """Fields whose names are words of core schemas, and defaults that look like them."""

    type: str = "bytes"
    cls: bytes = b"\xff"
    config: dict[str, Any] = {"strict": True}
    default: dict[str, str] = {"type": "bytes"}
    expected: float = 0.5
    members: list[Dog] = [Dog(name=b"rex")]
    serialization: Annotated[Cat | Dog, Field(discriminator="type")] = Cat()
    ref: int = 1
    schema_ref: int = 2


def kinds(schema: Any) -> list[str]:
    return [node["type"] for node in nodes(schema)]


def test_names_of_fields_are_no_schemas() -> None:
    own = own_nodes(Misnamed)
    assert own is not None
    assert list(own[1]["fields"]) == list(Misnamed.model_fields)
    assert not is_strict(schema_of(Misnamed))
    made = Misnamed(serialization=Dog(name=b"a"))
    assert validate(Misnamed, decode_msgpack(pack(made, binary=True))["observation"]) == made


class Node(BaseModel):
    kids: "list[Node]" = []
    leaf: "Leaf | None" = None

    @model_validator(mode="after")
    def check(self) -> "Node":
        return self


class Leaf(BaseModel):
    back: Node | None = None
    value: float = Field(default=0.0, strict=True)


class Holder(BaseModel):
    node: Node
    other: int = 0


def test_what_a_field_reaches() -> None:
    own = own_nodes(Holder)
    assert own is not None
    fields, whole = own[1]["fields"], schema_of(Holder)
    assert "float" in {node["type"] for node in reachable(fields["node"], whole)}
    assert [node["type"] for node in reachable(fields["other"], whole)][-1] == "int"
    assert "float" not in kinds(fields["other"])


def test_the_own_nodes_of_a_class() -> None:
    own = own_nodes(Node)
    assert own is not None
    assert list(own[1]["fields"]) == ["kids", "leaf"]
    assert own_nodes(RootModel[Cat]) is None


def test_what_is_strict() -> None:
    def strict(kind: Any) -> bool:
        return is_strict(TypeAdapter(kind).core_schema)

    assert not strict(Leaf)
    assert not strict(list[Annotated[int, Field(strict=True)]])
    assert strict(dict[str, Annotated[tuple[int, int], Field(strict=True)]])
