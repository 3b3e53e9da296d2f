"""Arguments: what callers of a pool pass, brought into one form, or refused by name."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from openenv._generics import type_arguments
from openenv.client.codec import Codec
from openenv.client.env_client import EnvClient
from openenv.protocol.errors import ConfigurationError, Json, OpenEnvError

ItemT = TypeVar("ItemT")


def addresses(url_or_urls: str | Sequence[str], size: int) -> list[str]:
    """The addresses of a pool's servers.

    Raises:
        ConfigurationError: there are none, or more than slots.
    """
    urls = [url_or_urls] if isinstance(url_or_urls, str) else list(url_or_urls)
    if not 0 < len(urls) <= size:
        raise ConfigurationError(
            f"a pool of {size} slots needs from 1 to {size} addresses, got {len(urls)}"
        )
    return urls


def whole(name: str, value: Any) -> int:
    """A whole number from 1.

    Raises:
        ConfigurationError: it is none.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ConfigurationError(f"{name} must be a whole number from 1, got {value!r}")
    return number


def chosen(slots: Any, size: int) -> Sequence[int]:
    """The slots that a call is about: all of them where it does not say.

    Raises:
        ConfigurationError: they are not different numbers of slots.
    """
    if slots is None:
        return range(size)
    given = _listed("slots", slots)
    if any(isinstance(slot, bool) for slot in given):
        raise ConfigurationError(
            "slots must be numbers of slots, not a mask: batch.slots[mask] gives them"
        )
    try:
        numbers = [operator.index(slot) for slot in given]
    except TypeError as error:
        raise ConfigurationError(f"slots must be numbers of slots: {error}") from None
    unknown = [slot for slot in numbers if not 0 <= slot < size]
    if unknown:
        raise ConfigurationError(f"this pool has slots 0 to {size - 1}, got {unknown}")
    if len(set(numbers)) < len(numbers):
        raise ConfigurationError(f"a slot was given twice: {numbers}")
    return numbers


def seeded(seeds: Any, slots: Sequence[int]) -> Sequence[int | None]:
    """The seed of each slot: one number is counted up by the slots' own numbers.

    Raises:
        ConfigurationError: they are no seeds, or not one for each slot.
    """
    if seeds is None:
        return [None] * len(slots)
    with contextlib.suppress(TypeError):
        first = operator.index(seeds)
        return [first + slot for slot in slots]
    given = paired("seeds", seeds, slots)
    try:
        return [None if seed is None else operator.index(seed) for seed in given]
    except TypeError as error:
        raise ConfigurationError(f"a seed must be a whole number or None: {error}") from None


def paired(name: str, items: Any, slots: Sequence[int]) -> list[Any]:
    """One item for each slot.

    Raises:
        ConfigurationError: there are more, or fewer.
    """
    given = _listed(name, items)
    if len(given) != len(slots):
        raise ConfigurationError(
            f"{name} must be one for each of {len(slots)} slots, got {len(given)}"
        )
    return given


def _listed(name: str, items: Any) -> list[Any]:
    """The items of a sequence or an array, whose scalars become plain ones."""
    if isinstance(items, str | bytes | Mapping):
        raise ConfigurationError(f"{name} must be a sequence, got a {type(items).__name__}")
    if getattr(items, "ndim", None) == 1:
        plain: list[Any] = items.tolist()
        return plain
    try:
        return list(items)
    except TypeError:
        raise ConfigurationError(
            f"{name} must be a sequence, got a {type(items).__name__}"
        ) from None


class Encoder:
    """Turns actions into what crosses the wire, as a client of the class would.

    Where the class's action model has but one field and the client has no encoding of its own,
    the bare value of that field will do for an action.
    """

    def __init__(self, client: EnvClient[Any, Any, Any]) -> None:
        self._client = client
        self._field = _only_field(type(client))

    def payloads(self, actions: Any, slots: Sequence[int]) -> list[Json]:
        """The payload of each slot's action.

        Raises:
            ConfigurationError: an action cannot be sent; none was.
        """
        given = paired("actions", actions, slots)
        payloads: list[Json] = []
        try:
            for action in given:
                payloads.append(self._payload(action))
        except OpenEnvError as error:
            raise ConfigurationError(
                f"the action for slot {slots[len(payloads)]} cannot be sent, so none was: {error}"
            ) from error
        return payloads

    def _payload(self, action: Any) -> Json:
        if self._field is not None and not isinstance(action, BaseModel | dict):
            return {self._field: action}
        return self._client._step_payload(action)


def _only_field(client: type[EnvClient[Any, Any, Any]]) -> str | None:
    """The name of the one field of a client's actions."""
    action = type_arguments(client, Codec)[0]
    own = client._step_payload is Codec._step_payload
    if not own or not (isinstance(action, type) and issubclass(action, BaseModel)):
        return None
    names = [name for name in action.model_fields if name != "metadata"]
    return names[0] if len(names) == 1 else None
