"""What there is to say of one environment: an installed one, a running one, or a project."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from openenv import settings
from openenv.catalog.images import built_image, image_here
from openenv.catalog.installed import EnvironmentInfo, find
from openenv.catalog.manifest import MANIFEST, read_manifest
from openenv.client.endpoint import UNAUTHORIZED_STATUS, Endpoint
from openenv.client.fetching import fetched
from openenv.client.spaces import served_at
from openenv.env.models import Action, Observation, State
from openenv.project.tool_list import tools_at, tools_in
from openenv.protocol.errors import ConfigurationError, ConnectFailed, Json
from openenv.server.info import json_schema, schemas

ANSWER_S = 10.0
"""How long a server may take to answer, in seconds."""
_PARTS = ("action", "observation", "state")
_COMMON = frozenset({*Action.model_fields, *Observation.model_fields, *State.model_fields})


@dataclass(frozen=True)
class Card:
    """One environment.

    Attributes:
        name: its own.
        source: where it was found: a distribution, an address or a path.
        version: its own, if it says one.
        description: a line for people.
        client: the module and the class of its client, as `module:Class`.
        schemas: what crosses the wire, as JSON schemas: `action`, `observation`, `state`, and
            `reset`, the options of a reset.
        tools: what an agent may call, each with `name`, `description` and `input_schema`.
        limits: what bounds it, by name.
        serve: the command that serves it here, and what it lacks for that.
        usage: a program, or the commands, that use it.
        problems: what could not be told, and why.
    """

    name: str
    source: str
    version: str | None = None
    description: str | None = None
    client: str | None = None
    schemas: Json = field(default_factory=dict)
    tools: list[Json] = field(default_factory=list)
    limits: Json = field(default_factory=dict)
    serve: str | None = None
    usage: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        """The same as JSON takes it."""
        return asdict(self)


def card_of(target: str) -> Card:
    """What there is to say of an environment.

    Args:
        target: the address of a server or the page of a Space; what `openenv serve` takes; or the
            name of an environment that is installed.

    Raises:
        ConnectFailed: nothing answers at the address, or not without a token.
        ConfigurationError: no environment is called that, or the project has a fault.
    """
    if "://" in target:
        return _running(target)
    path = Path(target)
    if path.suffix == ".py" or ":" in target or (path.is_dir() and _is_meant(path, target)):
        return _project(target, path)
    return _installed(find(target))


def _is_meant(directory: Path, target: str) -> bool:
    """Whether a directory is meant, and not an environment that happens to be called alike."""
    return (directory / MANIFEST).is_file() or not target.isidentifier()


# ── a server ──────────────────────────────────────────────────────────────────────────────────────


def _running(url: str) -> Card:
    base_url = served_at(url)
    at = Endpoint(base_url, settings.client_headers(None), connect_timeout=ANSWER_S)
    health, problems = _object(fetched(at, "/health"), "/health")
    card, others = _told(at, "/metadata")
    published, rest = _told(at, "/schema")
    known = {part: published[part] for part in _PARTS if isinstance(published.get(part), dict)}
    tools = tools_at(base_url, ANSWER_S) if known else []
    return Card(
        name=str(card.get("name") or "environment"),
        source=base_url,
        version=str(card.get("version") or "") or None,
        description=str(card.get("description") or "") or None,
        schemas=known,
        tools=tools,
        limits={k: v for k, v in health.items() if k not in ("status", "service")},
        usage=_play(base_url, known.get("action", {}), tools),
        problems=problems + others + rest,
    )


def _play(base_url: str, action: Json, tools: list[Json]) -> list[str]:
    """A program that plays on a server: in steps, each of which may be a call."""
    sample = _sample(action)
    if tools and "tool_name" in sample:
        arguments = _sample(tools[0]["input_schema"])
        sample = {"type": "call_tool", "tool_name": tools[0]["name"], "arguments": arguments}
    return [
        "from openenv import GenericEnvClient",
        "",
        f'with GenericEnvClient(base_url="{base_url}") as env:',
        "    result = env.reset()",
        f"    result = env.step({sample})",
    ]


def _told(at: Endpoint, path: str) -> tuple[Json, list[str]]:
    """What a server says at a path; servers need not say everything.

    Raises:
        ConnectFailed: it says nothing without its token.
    """
    try:
        return _object(fetched(at, path), path)
    except ConnectFailed as error:
        if error.status == UNAUTHORIZED_STATUS:
            raise
        return {}, [str(error)]


def _object(said: Any, path: str) -> tuple[Json, list[str]]:
    """An answer, and what is wrong with it: a server may say whatever it likes."""
    return (said, []) if isinstance(said, dict) else ({}, [f"{path} is no JSON object"])


# ── a project ─────────────────────────────────────────────────────────────────────────────────────


def _project(target: str, path: Path) -> Card:
    from openenv.project.supervise import as_app
    from openenv.project.target import resolve

    manifest = read_manifest(path) if (path / MANIFEST).is_file() else None
    told = manifest.description if manifest else None
    app = as_app(resolve(target))
    server = getattr(getattr(app, "state", None), "openenv", None)
    if server is None:
        return Card(
            name=manifest.name if manifest else target,
            source=target,
            usage=[f"openenv serve {target}"],
            problems=["it is an app of another kind: what crosses its wire is not known"],
        )
    tools, problems = tools_in(server.spec)
    return Card(
        name=manifest.name if manifest else server.spec.name,
        source=str(path.resolve()) if path.exists() else target,
        version=manifest.version if manifest else None,
        description=told or server.spec.description,
        schemas=schemas(server.spec).model_dump(include=set(_PARTS)) | _reset_options(server),
        tools=tools,
        limits={"max_sessions": server.max_concurrent_envs, "host": server.host_kind},
        usage=[f"openenv serve {target}"],
        problems=problems,
    )


# ── a package ─────────────────────────────────────────────────────────────────────────────────────


def _installed(environment: EnvironmentInfo) -> Card:
    problems = [environment.problem] if environment.problem else []
    image = image_here(environment) or built_image(environment)
    described: Json = {}
    usage: list[str] = []
    client = f"{environment.client_module_path}:{environment.client_class_name}"
    try:
        found = environment.get_client_class()
        action = environment.get_action_class()
        described = {
            "action": json_schema(action),
            "observation": json_schema(environment.get_observation_class()),
        }
        client = f"{found.__module__}:{found.__name__}"
        usage = _program(environment.package, image, found, action, described["action"])
    except ImportError as error:
        problems.append(str(error))
    server, serve = _served_here(environment)
    tools, unlisted = tools_in(server.spec) if server else ([], [])
    return Card(
        name=environment.name,
        source=f"{environment.package_name} {environment.version}",
        version=(environment.manifest or {}).get("version", environment.version),
        description=environment.description or (server.spec.description if server else None),
        client=client,
        schemas=described | _reset_options(server),
        tools=tools,
        limits={"image": image},
        serve=serve,
        usage=usage,
        problems=problems + unlisted,
    )


def _served_here(environment: EnvironmentInfo) -> tuple[Any, str]:
    """Its server, where the packages of that are here, and how it is served."""
    from openenv.project.supervise import as_app
    from openenv.project.target import resolve

    command = f"openenv serve {environment.env_key}"
    try:
        app = as_app(resolve(environment.env_key))
    except ConfigurationError as error:
        return None, f"{command}   # not yet: {str(error).splitlines()[0]}"
    return getattr(getattr(app, "state", None), "openenv", None), command


def _reset_options(server: Any) -> Json:
    options = server.spec.traits.options if server else None
    return {"reset": json_schema(options)} if options else {}


def _program(
    package: str, image: str, client: type[Any], action: type[Any], schema: Json
) -> list[str]:
    homes: dict[str, list[str]] = {}
    for needed in (action, client):
        homes.setdefault(_home(needed, package), []).append(needed.__name__)
    imports = [f"from {home} import {', '.join(names)}" for home, names in homes.items()]
    fields = ", ".join(f"{name}={value!r}" for name, value in _sample(schema).items())
    return [
        *imports,
        "",
        f'with {client.__name__}.from_docker_image("{image}") as env:',
        "    result = env.reset()",
        f"    result = env.step({action.__name__}({fields}))",
    ]


def _home(needed: type[Any], package: str) -> str:
    """Where people import a class from: the package itself, if it is there."""
    at_the_top = getattr(importlib.import_module(package), needed.__name__, None)
    return package if at_the_top is needed else needed.__module__


# ── schemas, for people ───────────────────────────────────────────────────────────────────────────


def field_lines(schema: Json) -> Iterator[str]:
    """The fields of a model, a line each: `amount: integer = 1  how much`.

    What every action, observation or state has is left out.
    """
    choices = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(choices, list):
        yield "one of " + ", ".join(_type_of(choice) for choice in choices)
        return
    required = _required(schema)
    for name, field_schema in _properties(schema).items():
        if name in _COMMON:
            continue
        said = f"  {field_schema['description']}" if field_schema.get("description") else ""
        yield f"{_declared(name, field_schema, required)}{said}"


def tool_line(tool: Json) -> str:
    """A tool in a line, as `price(item: string)  What an item costs.`."""
    schema = tool.get("input_schema") or {}
    required = _required(schema)
    fields = _properties(schema).items()
    arguments = ", ".join(_declared(name, field, required) for name, field in fields)
    said = str(tool.get("description") or "").strip().partition("\n")[0]
    return f"{tool.get('name')}({arguments})  {said}".rstrip()


def _declared(name: str, schema: Json, required: list[str]) -> str:
    optional = name not in required and "default" in schema
    default = f" = {schema['default']!r}" if optional else ""
    return f"{name}: {_type_of(schema)}{default}"


def _properties(schema: Json) -> dict[str, Json]:
    """The schemas of a model's fields; what is no schema says nothing."""
    found = schema.get("properties")
    fields = found if isinstance(found, dict) else {}
    return {name: value if isinstance(value, dict) else {} for name, value in fields.items()}


def _required(schema: Json) -> list[str]:
    """The names of the fields that a model must have."""
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _type_of(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(map(repr, values)) if isinstance(values, list) else "anything"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        return " | ".join(_type_of(choice) for choice in choices)
    if isinstance(schema.get("items"), dict):
        return f"array of {_type_of(schema['items'])}"
    kinds = schema.get("type", "anything")
    return " | ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)


def _sample(schema: Json) -> Json:
    """The fields that an action must have, with a value of their type."""
    values = {"string": "…", "integer": 0, "number": 0.0, "boolean": False, "array": []}
    properties = _properties(schema)
    return {name: _first(properties.get(name, {}), values) for name in _required(schema)}


def _first(schema: Json, values: Json) -> Any:
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "minimum" in schema:
        return schema["minimum"]
    return values.get(str(schema.get("type")), {})
