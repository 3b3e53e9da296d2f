"""Options: what an episode of an environment can be told, by variables and by `reset`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import Self

from openenv.protocol.errors import ConfigurationError, InvalidRequest, Json

_ALIKE = 0.75
"""How alike two variables must be, of 1, for one to be taken for the other."""


class Options(BaseModel):
    """What an environment can be told: fields with defaults, validated wherever they come from.

    ```python
    class ChessOptions(Options, variables="CHESS_"):
        opponent: Literal["random", "none"] = "random"
    ```

    A server's variables (`CHESS_OPPONENT`) say what holds for all its sessions, and
    `reset(opponent=...)` what holds for one episode. Values are immutable.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    _prefix: ClassVar[str] = ""

    def __init_subclass__(cls, variables: str = "", **kwargs: Any) -> None:
        """Takes the prefix of the variables: `CHESS_`. A subclass without one has its parent's."""
        super().__init_subclass__(**kwargs)
        if variables:
            cls._prefix = variables

    @classmethod
    def from_variables(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The options that a process's environment variables give; defaults for the rest.

        A field `max_moves` is read from `PREFIX_MAX_MOVES`. An empty variable counts as none.
        Lists and mappings are written as JSON.

        Args:
            environ: the variables, by default those of this process.

        Raises:
            ConfigurationError: a variable's value is none of the field's.
        """
        variables = os.environ if environ is None else environ  # noqa: TID251  # its author's own
        given = {
            name: variables[variable]
            for name in cls.model_fields
            if variables.get(variable := cls.variable(name))
        }
        try:
            return cls.model_validate({name: _read(text) for name, text in given.items()})
        except ValidationError as error:
            faults = _faults(error)
            lines = [f"{cls.variable(f.place)}: {f.why}" if f.loc else f.why for f in faults]
            raise ConfigurationError("; ".join(lines)) from None

    @classmethod
    def misspelled(cls, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """Variables that nothing reads, and the one that each of them was probably meant to be.

        Args:
            environ: the variables, by default those of this process.
        """
        variables = os.environ if environ is None else environ  # noqa: TID251  # its author's own
        read = [cls.variable(name) for name in cls.model_fields]
        known = {variable.removeprefix(cls._prefix): variable for variable in read}
        unread = [v for v in variables if cls._prefix and v.startswith(cls._prefix)]
        close = {
            v: get_close_matches(v.removeprefix(cls._prefix), known, 1, _ALIKE)
            for v in unread
            if v not in read
        }
        return {variable: known[meant[0]] for variable, meant in close.items() if meant}

    @classmethod
    def variable(cls, name: str) -> str:
        """The environment variable that a field is read from."""
        return f"{cls._prefix}{name.upper()}"

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """These options with some of them changed, as an episode's `reset` asks for.

        Args:
            changes: values by name; `None` changes nothing.

        Raises:
            InvalidRequest: a name is unknown, a value is wrong, or two contradict each other. It
                says which, what was received and what is accepted.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        if not given:
            return self
        try:
            return type(self).model_validate({**dict(self), **given})
        except ValidationError as error:
            names = list(type(self).model_fields)
            faults = [_named(fault, names) for fault in _faults(error)]
            line = f"reset does not take that: {'; '.join(map(_told, faults))}"
            raise InvalidRequest(line, errors=[fault.as_json() for fault in faults]) from None


class _Fault(NamedTuple):
    """Where a fault is, and what it is; nowhere if values contradict each other.

    Attributes:
        type: pydantic's name of it.
        loc: the option, and what part of it.
        why: what is wrong, in words.
    """

    type: str
    loc: tuple[int | str, ...]
    why: str

    @property
    def place(self) -> str:
        """The option, and what part of it, as a text."""
        return ".".join(map(str, self.loc))

    def as_json(self) -> Json:
        """The fault as an error on the wire has it."""
        return {"type": self.type, "loc": list(self.loc), "msg": self.why}


def _read(text: str) -> Any:
    """A variable's text; JSON where it is written as a list or a mapping."""
    if not re.match(r"\s*[\[{]", text):
        return text
    try:
        import json

        return json.loads(text)
    except ValueError:
        return text


def _faults(error: ValidationError) -> list[_Fault]:
    return [
        _Fault(fault["type"], fault["loc"], _why(fault["msg"], fault["loc"], fault["input"]))
        for fault in error.errors(include_url=False)
    ]


def _why(said: str, loc: tuple[int | str, ...], received: Any) -> str:
    """What is wrong. In a contradiction, all options were received: also the server's own."""
    why, got = said.removeprefix("Value error, "), _shortened(received)
    is_told = not loc or (isinstance(received, str) and got in why)
    return why if is_told else f"{why}, got {got}"


def _named(fault: _Fault, names: list[str]) -> _Fault:
    """The fault; of an option that does not exist, with those that do."""
    if not fault.loc or fault.loc[0] in names:
        return fault
    close = get_close_matches(fault.place, names, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'no options'}"
    return fault._replace(loc=(), why=f"no option {fault.place!r}; {hint}")


def _told(fault: _Fault) -> str:
    return f"{fault.place}: {fault.why}" if fault.loc else fault.why


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
