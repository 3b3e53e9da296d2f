"""Every row of the path table, under each of its spellings."""

import importlib
import json
import pkgutil
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

import openenv
import openenv.core
from openenv.core.env_server import types
from tests.compat.path_table import TABLE, Row

LIVING = [row for row in TABLE if row.home is not None]
PENDING = [row for row in TABLE if row.home is None]
HEAVY = {
    *("fastapi", "fastmcp", "gradio", "huggingface_hub", "numpy", "openai", "pandas"),
    *("starlette", "typer", "uvicorn", "websockets"),
}


def spelling(row: Row) -> str:
    return f"{row.path}:{row.name}"


def found(path: str, name: str) -> Any:
    return getattr(importlib.import_module(path), name)


def run(code: str) -> Any:
    """What a fresh interpreter prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("row", LIVING, ids=spelling)
def test_a_name_is_the_very_object_of_its_home(row: Row) -> None:
    assert row.home is not None
    thing = found(row.path, row.name)
    assert thing is found(row.home, row.name)
    module = getattr(thing, "__module__", row.home)
    assert module == row.home or not module.startswith("openenv.")


@pytest.mark.parametrize("row", PENDING, ids=spelling)
def test_a_pending_name_is_not_there(row: Row) -> None:
    assert row.pending
    with pytest.raises((ImportError, AttributeError)):
        found(row.path, row.name)


def test_no_name_stands_twice_in_the_table() -> None:
    twice = [row for row, count in Counter((r.path, r.name) for r in TABLE).items() if count > 1]
    assert twice == []


def modules() -> list[str]:
    walked = pkgutil.walk_packages(openenv.core.__path__, "openenv.core.")
    return ["openenv.core", *(module.name for module in walked)]


@pytest.mark.parametrize("path", modules())
def test_the_facade_offers_nothing_that_is_not_in_the_table(path: str) -> None:
    offered = set(importlib.import_module(path).__all__)
    known = {row.name for row in LIVING if row.path == path}
    extra = {"StepResult"} if path == "openenv.core" else set()  # ours, beside the peer's names
    assert offered - extra == known


@pytest.mark.parametrize("path", ["openenv", *modules()])
def test_every_offered_name_is_there_and_listed(path: str) -> None:
    module = importlib.import_module(path)
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("path", ["openenv", "openenv.core", "openenv.core.env_server"])
def test_an_unknown_name_is_an_attribute_error(path: str) -> None:
    with pytest.raises(AttributeError, match=f"{path}.*no_such_name"):
        found(path, "no_such_name")


def test_subpackages_are_attributes() -> None:
    code = """
import openenv, json
print(json.dumps([openenv.core.__name__, openenv.cli.__name__, openenv.core.EnvClient.__name__]))
"""
    assert run(code) == ["openenv.core", "openenv.cli", "EnvClient"]


def test_star_imports_give_every_name() -> None:
    code = """
import json
from openenv.core import *
from openenv.core.env_server import *
print(json.dumps([EnvClient.__name__, create_app.__name__, Environment.__name__]))
"""
    assert run(code) == ["EnvClient", "create_app", "Environment"]


class TestOldName:
    """`openenv_core`, in interpreters of its own: it warns once per process."""

    OLD = sorted(
        {
            row.path.replace("openenv.core", "openenv_core", 1)
            for row in LIVING
            if row.path.startswith("openenv.core")
        }
    )

    @pytest.mark.parametrize("first", ["openenv_core", "openenv_core.env_server.types"])
    def test_every_module_is_the_very_same_and_one_warning_is_given(self, first: str) -> None:
        code = f"""
import importlib, json, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    importlib.import_module({first!r})
    for old in {self.OLD!r}:
        importlib.import_module(old)
        new = old.replace("openenv_core", "openenv.core", 1)
        assert sys.modules[old] is importlib.import_module(new), old
        assert sys.modules[new].__name__ == new, old
        assert sys.modules[new].__spec__.name == new, old
    from openenv_core.env_server.types import Action
    from openenv_core.env_server.interfaces import Environment
    import openenv_core.client_types as client_types
    import openenv.core.env_server.types, openenv.core.client_types
    assert Action is openenv.core.env_server.types.Action
    assert client_types is openenv.core.client_types
    importlib.reload(sys.modules["openenv.core.env_server.types"])
print(json.dumps([[w.category.__name__, str(w.message), w.filename] for w in caught]))
"""
        ((category, message, _),) = run(code)
        assert category == "DeprecationWarning"
        assert "openenv.core" in message

    def test_every_name_is_there(self) -> None:
        rows = [(row.path, row.name) for row in LIVING if row.path.startswith("openenv.core")]
        code = f"""
import importlib, json, warnings
warnings.simplefilter("ignore")
wrong = []
for path, name in {rows!r}:
    old = importlib.import_module(path.replace("openenv.core", "openenv_core", 1))
    if getattr(old, name) is not getattr(importlib.import_module(path), name):
        wrong.append([path, name])
print(json.dumps(wrong))
"""
        assert run(code) == []

    def test_the_new_names_may_come_first(self) -> None:
        code = """
import json, warnings
import openenv.core.env_server.interfaces as new
warnings.simplefilter("ignore")
import openenv_core.env_server.interfaces as old
from openenv_core import EnvClient
print(json.dumps(old is new))
"""
        assert run(code) is True

    def test_what_does_not_exist_is_not_found_under_the_old_name_either(self) -> None:
        code = """
import json, warnings
warnings.simplefilter("ignore")
import openenv_core
seen = []
for name in ("openenv_core.nothing", "openenv_core.env_server.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        seen.append(error.name.rpartition(".")[2])
print(json.dumps(seen))
"""
        assert run(code) == ["nothing", "nothing"]

    def test_the_warning_names_the_line_that_imports(self) -> None:
        code = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from openenv_core.env_server.types import State
print(json.dumps([w.filename for w in caught]))
"""
        assert run(code) == ["<string>"]


@pytest.mark.parametrize(
    "statement",
    [
        "import openenv",
        "import openenv.core",
        "import openenv.core.env_server",
        "from openenv.core.env_server import Environment, Action, Observation, State",
        "from openenv.core.env_server.types import Action",
        "from openenv.core.env_server.interfaces import Environment",
        "from openenv.core.env_server.exceptions import SessionCapacityError",
        "from openenv.core.client_types import StepResult",
        "from openenv.core.env_client import EnvClient",
        "from openenv_core.env_server.types import Action",
    ],
)
def test_an_import_is_light(statement: str) -> None:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    loaded = {name.partition(".")[0] for name in run(code)}
    assert loaded & HEAVY == set()


MODELS: dict[str, dict[str, object]] = {
    "Action": {"metadata": {}},
    "Observation": {"done": False, "reward": None, "metadata": {}},
    "State": {"episode_id": None, "step_count": 0},
    "ResetRequest": {"seed": None, "episode_id": None},
    "ResetResponse": {"observation": ..., "reward": None, "done": False, "metadata": None},
    "StepRequest": {"action": ..., "timeout_s": None, "request_id": None},
    "StepResponse": {"observation": ..., "reward": None, "done": False, "metadata": None},
    "CodeExecResult": {"stdout": ..., "stderr": ..., "exit_code": ...},
    "EnvironmentMetadata": {
        "name": ...,
        "description": ...,
        "readme_content": None,
        "version": None,
        "author": None,
        "documentation_url": None,
    },
    "SchemaResponse": {"action": ..., "observation": ..., "state": ..., "reset_observation": None},
    "HealthResponse": {"status": types.HealthStatus.HEALTHY},
    "WSResetMessage": {"type": "reset", "data": {}},
    "WSStepMessage": {"type": "step", "data": ...},
    "WSStateMessage": {"type": "state"},
    "WSCloseMessage": {"type": "close"},
    "WSObservationResponse": {"type": "observation", "data": ...},
    "WSStateResponse": {"type": "state", "data": ...},
    "WSErrorResponse": {"type": "error", "data": ...},
    "ConcurrencyConfig": {"max_concurrent_envs": 1, "session_timeout": None},
    "ServerCapacityStatus": {"active_sessions": ..., "max_sessions": ...},
    "SessionInfo": {
        "session_id": ...,
        "created_at": ...,
        "last_activity_at": ...,
        "step_count": 0,
        "environment_type": ...,
    },
}
TOLERANT = {"State", "ResetRequest", "StepRequest"}
OURS = {  # fields that we add; all have defaults
    "Observation": {"truncated"},
    "ResetResponse": {"truncated"},
    "StepResponse": {"truncated"},
    "HealthResponse": {"active_sessions", "max_sessions", "waiting", "isolation"},
}


@pytest.mark.parametrize("name", MODELS)
def test_the_fields_of_every_model(name: str) -> None:
    model = getattr(types, name)
    fields = {
        field: ... if info.is_required() else info.get_default(call_default_factory=True)
        for field, info in model.model_fields.items()
        if field not in OURS.get(name, ())
    }
    assert fields == MODELS[name]
    assert OURS.get(name, set()) <= model.model_fields.keys()
    assert model.model_config["extra"] == ("allow" if name in TOLERANT else "forbid")


@pytest.mark.parametrize(
    ("enum", "values"),
    [
        ("ServerMode", {"SIMULATION": "simulation", "PRODUCTION": "production"}),
        (
            "HealthStatus",
            {"HEALTHY": "healthy", "UNHEALTHY": "unhealthy", "DEGRADED": "degraded"},
        ),
        (
            "WSErrorCode",
            {
                code: code
                for code in (
                    *("INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR"),
                    *("CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"),
                )
            },
        ),
    ],
)
def test_the_values_of_every_enum(enum: str, values: dict[str, str]) -> None:
    members = getattr(types, enum).__members__
    assert {name: member.value for name, member in members.items()} == values
    assert all(isinstance(member, str) for member in members.values())
