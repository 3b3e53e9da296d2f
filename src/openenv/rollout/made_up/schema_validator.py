"""JSON Schema by `jsonschema`, so bounded that a stranger's schema cannot keep it busy for ever.

This module loads `jsonschema`; it is imported where a value is looked at, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import isfinite
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from openenv.rollout.made_up.fitting import Json, Schema, shown

MOST_LOOKS = 2_000_000
"""How many parts are looked at: a picture of 800 by 800 in three colours, a number for a part."""
LONGEST_MESSAGE = 200
_LOST = frozenset({"NaN", "Infinity", "-Infinity"})
"""How the wire writes numbers that JSON has no form for."""
_WORDS: dict[Any, str] = {
    None: "must not be there",
    "const": "must be {}",
    "contains": "must hold what fits a schema",
    "enum": "must be one of {}",
    "exclusiveMaximum": "must be less than {}",
    "exclusiveMinimum": "must be more than {}",
    "maxItems": "must hold at most {}",
    "maxLength": "must hold at most {}",
    "maxProperties": "must hold at most {}",
    "maximum": "must be at most {}",
    "minItems": "must hold at least {}",
    "minLength": "must hold at least {}",
    "minProperties": "must hold at least {}",
    "minimum": "must be at least {}",
    "multipleOf": "must be a multiple of {}",
    "not": "must not fit a schema that it fits",
    "type": "must be of type {}",
    "uniqueItems": "must not hold anything twice",
}
"""What is said of a keyword, where `jsonschema` would show the whole value first."""


class _TooMuch(Exception):
    """Looking would go on for too long."""


def faults(schema: Schema, value: Any) -> Iterator[str]:
    """What does not fit, each as `place: why`.

    Args:
        schema: a JSON schema.
        value: what JSON holds.
    """
    try:
        yield from map(_told, _validator(schema).iter_errors(value))
    except RecursionError:
        yield "it: is nested too deeply to be looked at"
    except _TooMuch:
        yield f"it: has more than {MOST_LOOKS} parts to be looked at"
    except UnknownType as error:
        yield f"it: its schema is none: it knows no type {shown(error.type)}"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        yield f"it: its schema is none: {str(error)[:LONGEST_MESSAGE]}"


def resolve(reference: str, root: Schema) -> Any:
    """What a reference such as `#/$defs/Card` points to; `None` if to nothing in there."""
    resolver = Registry[Any]().resolver_with_root(DRAFT202012.create_resource(root))
    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, TypeError, ValueError):
        return None


def _told(error: ValidationError) -> str:
    place = ".".join(map(str, error.absolute_path)) or "it"
    words = _WORDS.get(error.validator, "").format(shown(error.validator_value))
    return f"{place}: {words or error.message[:LONGEST_MESSAGE]}, got {shown(error.instance)}"


def _validator(schema: Schema) -> Validator:
    """A validator of a class of its own, which counts what it looks at.

    Each part of a schema gets its validator from `evolve`. The standard one follows a `$schema` in
    the part to a standard class, which would look at patterns again.
    """
    root = DRAFT202012.create_resource(schema)
    # A registry that is given no way to retrieve anything reaches no network and no files.
    # Crawled at once: otherwise each look for a name crawls anew.
    registry = Registry[Any]().with_resource(root.id() or "", root).crawl()
    kind: Any = extend(Draft202012Validator, _KEYWORDS)  # type: ignore[no-untyped-call]
    evolve, looks = kind.evolve, count()

    def counted(self: Validator, **changes: Any) -> Validator:
        if next(looks) >= MOST_LOOKS:
            raise _TooMuch
        part = changes.get("schema")
        if isinstance(part, dict) and "$schema" in part:
            changes["schema"] = {key: part[key] for key in part if key != "$schema"}
        return cast(Validator, evolve(self, **changes))

    kind.evolve = counted
    return cast(Validator, kind(schema, registry=registry))


# ── the keywords that are looked at in another way ────────────────────────────────────────────────

Errors = Iterator[ValidationError]
_STANDARD = Draft202012Validator.VALIDATORS


def _ref(validator: Validator, reference: Any, instance: Any, schema: Json) -> Errors:
    try:
        yield from _STANDARD["$ref"](validator, reference, instance, schema) or ()
    except Unresolvable as error:
        raise LookupError(f"it refers to {reference}: not there") from error


def _type(validator: Validator, types: Any, instance: Any, schema: Json) -> Errors:
    is_lost = isinstance(instance, str) and instance in _LOST
    if not (is_lost and "number" in types):
        yield from _STANDARD["type"](validator, types, instance, schema) or ()


def _multiple_of(validator: Validator, of: Any, instance: Any, schema: Json) -> Errors:
    """As pydantic has it, 0.3 is a multiple of 0.1."""
    if not (isinstance(instance, float) or isinstance(of, float)):
        yield from _STANDARD["multipleOf"](validator, of, instance, schema) or ()
    elif validator.is_type(instance, "number"):
        times = instance / of
        if not isfinite(times) or abs(times - round(times)) >= 1e-9:
            yield ValidationError("")


def _fits(validator: Any, schema: Any, instance: Any) -> bool:
    """Whether a value fits; the standard `anyOf` and `oneOf` keep every fault of every choice."""
    return next(validator.descend(instance, schema), None) is None


def _any_of(validator: Validator, choices: Any, instance: Any, schema: Json) -> Errors:
    if not any(_fits(validator, choice, instance) for choice in choices):
        yield ValidationError("fits none of the schemas that it may have")


def _one_of(validator: Validator, choices: Any, instance: Any, schema: Json) -> Errors:
    fitting = sum(_fits(validator, choice, instance) for choice in choices)
    if fitting != 1:
        yield ValidationError(f"must fit one of several schemas, and fits {fitting}")


def _additional(validator: Validator, allowed: Any, instance: Any, schema: Json) -> Errors:
    if "patternProperties" not in schema:
        yield from _STANDARD["additionalProperties"](validator, allowed, instance, schema) or ()


def _say_nothing(validator: Validator, asked: Any, instance: Any, schema: Json) -> None:
    """What a keyword says that is not looked at.

    A pattern can be written that takes for ever. `unevaluated…` matches patterns as well, and
    makes lists of all items for each part of a schema; `$dynamicRef` crawls all of it each time.
    """


_KEYWORDS = {
    "$dynamicRef": _say_nothing,
    "$ref": _ref,
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "multipleOf": _multiple_of,
    "oneOf": _one_of,
    "pattern": _say_nothing,
    "patternProperties": _say_nothing,
    "type": _type,
    "unevaluatedItems": _say_nothing,
    "unevaluatedProperties": _say_nothing,
}
