"""Tables of the fields of models: their types, defaults, and what the class says of them."""

import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import asdict
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from openenv import Options
from openenv.env.ndarray import ArraySpec

_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_LONGEST = 60
_BOUNDS: dict[type, str] = {
    Ge: "from {ge}",
    Gt: "above {gt}",
    Le: "to {le}",
    Lt: "below {lt}",
    MinLen: "{min_length} or more",
    MaxLen: "at most {max_length}",
}


def table(model: type[BaseModel], beyond: type[BaseModel]) -> str:
    """The table of a model's fields.

    Args:
        model: the class.
        beyond: a class that it inherits from, whose fields are left out.
    """
    said = meanings(model)
    options = issubclass(model, Options)
    heads = ["field", *(["variable"] if options else []), "type", "default", "meaning"]
    rows = [_line(heads), _line(["---"] * len(heads))]
    for name, field in model.model_fields.items():
        if name not in beyond.model_fields:
            variable = [f"`{model.variable(name)}`"] if issubclass(model, Options) else []
            meaning = said.get(name) or field.description or ""
            rows.append(_line([f"`{name}`", *variable, _type(field), _default(field), meaning]))
    return "\n".join(rows) if len(rows) > 2 else "It has no fields of its own."


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """What the docstrings of a class and of those that it inherits from say of its fields."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        _, _, attributes = inspect.cleandoc(each.__doc__ or "").partition("Attributes:\n")
        for name, text in _ATTRIBUTE.findall(attributes):
            found[name] = " ".join(text.split())
    return found


def arrays(model: type[BaseModel]) -> Iterator[str]:
    """The fields of a model that are arrays or lists, of numbers."""
    for name, field in model.model_fields.items():
        if re.match(r"array|list\[(list\[)*(int|float)\b", _typed(field)):
            yield name


def _type(field: FieldInfo) -> str:
    spelling = _typed(field)
    bounds = [_BOUNDS[type(bound)].format(**asdict(bound)) for bound in _bounds(field)]
    return ", ".join([f"`{spelling}`" if len(spelling) <= _LONGEST else "see below", *bounds])


def _typed(field: FieldInfo) -> str:
    arrays = (_array(each) for each in field.metadata if isinstance(each, ArraySpec))
    return next(arrays, None) or _spelled(field.annotation)


def _bounds(field: FieldInfo) -> list[Any]:
    return [each for each in field.metadata if type(each) in _BOUNDS]


def _spelled(annotation: Any) -> str:
    """A type as its author would write it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        array = next((each for each in inner if isinstance(each, ArraySpec)), None)
        return _spelled(inner[0]) if array is None else _array(array)
    if origin is Literal:
        return " | ".join(map(repr, inner))
    if origin in (Union, types.UnionType):
        return " | ".join(map(_spelled, inner))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_spelled, inner))}]"
    return _name(annotation)


def _name(annotation: Any) -> str:
    """A type that has no parts."""
    if annotation in (None, type(None)):
        return "None"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " | ".join(repr(each.value) for each in annotation)
    return "..." if annotation is ... else getattr(annotation, "__name__", "Any")


def _array(array: ArraySpec) -> str:
    sizes = ["any" if size is None else str(size) for size in array.shape or ()]
    return f"array of {array.dtype}" + (f", {' × '.join(sizes)}" if sizes else "")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    text = repr(value)
    return f"`{text}`" if len(text) <= _LONGEST else "see above"
