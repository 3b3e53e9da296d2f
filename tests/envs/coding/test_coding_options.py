"""What an episode can be told, and what is refused."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from coding_env import CodeAction, CodeObservation
from coding_env.models import MAX_CODE
from coding_env.options import CodingOptions
from coding_env.server import PythonCodeActEnv
from openenv import ConfigurationError, errors
from tests.envs.coding.conftest import Coding
from tests.serving import Served

Played = Callable[..., CodeObservation]


def test_time(played: Played) -> None:
    seen = played("print('a', flush=True)\nwhile True: pass", code_timeout_s=1)
    assert (seen.stdout, seen.exit_code, seen.timed_out) == ("a\n", 124, True)
    assert "[stopped: out of time]" in seen.text


def test_memory(played: Played) -> None:
    seen = played("x = bytearray(300 << 20)", memory_mb=128)
    assert seen.exit_code != 0
    assert played("x = bytearray(300 << 20)", memory_mb=1024).exit_code == 0


def test_output(played: Played) -> None:
    seen = played("print('x' * 1000)", max_output=100)
    assert seen.output_truncated
    assert len(seen.stdout) <= 100
    assert seen.truncated is False
    assert "[the output was cut]" in seen.text


def test_imports(played: Played) -> None:
    allowed = played("import math, os.path\nmath.pi", imports=["math", "os"])
    assert allowed.exit_code == 0
    seen = played("import json", imports=["math"])
    assert seen.error is not None
    assert seen.error.type in ("ImportError", "ModuleNotFoundError")
    assert "json" in seen.error.message
    assert played("import json", imports=[]).exit_code == 1


def test_safety(played: Played) -> None:
    assert played("print('eval(1)')").reward == 0.1
    seen = played("print('eval(1)')", safety="text")
    assert (seen.stdout, seen.reward) == ("eval(1)\n", -0.9)
    assert seen.metadata["safety_violation"] == r"eval\("


def test_max_steps(coding: Coding) -> None:
    coding.reset(max_steps=2)
    assert coding.step(CodeAction(code="x = 1")).done is False
    last = coding.step(CodeAction(code="x")).observation
    assert (last.truncated, last.reward, last.value) == (True, 0.1, "1")
    state = coding.state()
    after = coding.step(CodeAction(code="x = 2"))
    assert (after.done, after.reward, after.observation.value) == (True, 0.0, "1")
    assert "reset()" in after.observation.metadata["error"]
    assert after.observation.text == f"Refused: {after.observation.metadata['error']}\n{last.text}"
    assert coding.state() == state


def test_isolation_of_every_wall_or_none(played: Played) -> None:
    level = played("1").metadata["sandbox"]
    if level == "full":
        assert played("1", isolation="strict").value == "1"
    else:
        with pytest.raises(errors.SessionError, match="sandbox|isolation|strict"):
            played("1", isolation="strict")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"executor": "docker"}, "sandbox"),
        ({"code_timeout_s": 0}, "code_timeout_s.*got 0"),
        ({"code_timeout_s": float("nan")}, "code_timeout_s"),
        ({"memory_mb": 1}, "memory_mb"),
        ({"imports": 5}, "imports"),
        ({"imports": ["math", ""]}, "imports"),
        ({"imports": ["os.path"]}, "os.path"),
        ({"tests": "assert ("}, "tests"),
        ({"time_out_s": 5}, "did you mean timeout_s"),
        ({"executor": "smolagents", "isolation": "strict"}, "no sandbox"),
        ({"executor": "smolagents"}, "CODING_EXECUTOR"),
        ({"memory_mb": 2048}, "CODING_MEMORY_MB"),
        ({"preload": ["antigravity"]}, "CODING_PRELOAD"),
    ],
)
def test_what_is_refused_leaves_the_episode(
    coding: Coding, options: dict[str, Any], told: str
) -> None:
    coding.reset()
    coding.step(CodeAction(code="x = 1"))
    with pytest.raises(errors.InvalidRequest, match=told):
        coding.reset(**options)
    assert coding.step(CodeAction(code="x")).observation.value == "1"


def test_a_server_s_strictness_holds_for_every_episode() -> None:
    strict = CodingOptions(isolation="strict", preload=("math", "json"))
    assert strict.for_episode({"preload": ["json"], "memory_mb": 64}).memory_mb == 64
    with pytest.raises(errors.InvalidRequest, match="CODING_ISOLATION"):
        strict.for_episode({"isolation": "best"})
    smolagents = CodingOptions(executor="smolagents")
    assert smolagents.for_episode({"executor": "sandbox"}).executor == "sandbox"


def test_what_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "smolagents", None)
    env = PythonCodeActEnv(executor="smolagents")
    with pytest.raises(ConfigurationError, match=r"pip install 'openenv-coding-env\[smolagents\]'"):
        env.reset()
    env.reset(executor="sandbox")
    assert env.step(CodeAction(code="1")).value == "1"
    env.close()


def test_code_has_a_greatest_length(server: Served) -> None:
    with server.socket() as socket:
        socket.reset()
        assert socket.step(code="#" * MAX_CODE)["observation"]["exit_code"] == 0
        for size in (MAX_CODE + 1, 10 << 20):
            refused = socket.refused({"type": "step", "data": {"code": "#" * size}})
            assert refused["code"] == "VALIDATION_ERROR"
            assert "100000" in str(refused)
        assert socket.step(code="1")["observation"]["value"] == "1"


def test_options_come_from_variables_too() -> None:
    options = CodingOptions.from_variables(
        {
            "CODING_TIMEOUT_S": "2.5",
            "CODING_MEMORY_MB": "256",
            "CODING_MAX_OUTPUT": "1000",
            "CODING_IMPORTS": "math, json",
            "CODING_PRELOAD": '["math"]',
            "CODING_EXECUTOR": "sandbox",
        }
    )
    assert (options.timeout_s, options.memory_mb, options.max_output) == (2.5, 256, 1000)
    assert (options.imports, options.preload) == (("math", "json"), ("math",))
    with pytest.raises(ConfigurationError, match="CODING_TIMEOUT_S"):
        CodingOptions.from_variables({"CODING_TIMEOUT_S": "soon"})


def test_the_defaults_are_documented_ones() -> None:
    options = CodingOptions()
    assert (options.executor, options.timeout_s, options.memory_mb) == ("auto", 10.0, 1024)
    assert (options.max_output, options.imports, options.tests) == (50_000, None, None)


def test_a_constructor_takes_options_and_keywords() -> None:
    env = PythonCodeActEnv(CodingOptions(max_steps=5), max_steps=1)
    try:
        env.reset()
        assert env.step(CodeAction(code="1")).truncated
        env.reset(max_steps=2)
        assert not env.step(CodeAction(code="1")).truncated
    finally:
        env.close()
        env.close()
