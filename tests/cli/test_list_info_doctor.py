"""`openenv list`, `info`, `doctor`: what is here, what it takes, what this machine can do."""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from openenv.cli.commands.info import _lines
from openenv.cli.output import Exit, table
from openenv.project import doctor
from openenv.project.card import card_of
from openenv.project.doctor import Finding, examine
from openenv.testing import Counting
from tests.catalog.packages import install
from tests.serving import Served, serving

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.timeout(120)


def openenv(*args: str, site: Path | None = None, variables: Mapping[str, str] = {}) -> Any:
    """Runs the command; its exit code and what it printed."""
    environ = {**os.environ, **variables}
    if site is not None:
        environ["PYTHONPATH"] = str(site)
    return subprocess.run(
        [sys.executable, "-m", "openenv", *args],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        env=environ,
    )


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(Counting, max_concurrent_envs=8) as served:
        yield served


# ── list ──────────────────────────────────────────────────────────────────────────────────────────


def test_list_shows_what_is_installed(tmp_path: Path) -> None:
    install(tmp_path, "openenv-cave-env", "cave_env", prefix="Cave")
    install(tmp_path, "openenv-bad-env", "bad_env", files={"openenv.yaml": "name: [\n"})
    run = openenv("list", site=tmp_path)
    assert run.returncode == Exit.OK
    lines = run.stdout.splitlines()
    assert lines[0].split() == ["NAME", "VERSION", "DESCRIPTION"]
    (cave,) = (line for line in lines if line.startswith("cave "))
    assert cave.split(maxsplit=2) == ["cave", "1.0", "A world"]
    assert "openenv.yaml:" in run.stderr
    listed = {
        row["env_key"]: row for row in json.loads(openenv("list", "--json", site=tmp_path).stdout)
    }
    assert listed["cave"]["package_name"] == "openenv-cave-env"
    assert listed["bad"]["problem"]


def test_a_description_is_wrapped_to_the_terminal_below_itself() -> None:
    rows = [("cave", "1.0", "a world of walls and ways"), ("echo", "2.0", "")]
    assert table(("NAME", "VERSION", "DESCRIPTION"), rows, 37) == [
        "NAME  VERSION  DESCRIPTION",
        "cave  1.0      a world of walls and",
        "               ways",
        "echo  2.0",
    ]
    assert table(("NAME", "VERSION", "DESCRIPTION"), rows)[1].endswith("walls and ways")
    assert max(map(len, table(("NAME", "X"), [("cave", "word " * 20)], 1))) <= 6 + 20


# ── info ──────────────────────────────────────────────────────────────────────────────────────────


def test_info_of_an_installed_environment_is_a_program_that_uses_it(tmp_path: Path) -> None:
    alone = {"PATH": str(tmp_path)}
    run = openenv("info", "echo", variables=alone)
    assert run.returncode == Exit.OK
    assert "client: echo_env.client:EchoEnv" in run.stdout
    assert "message: string" in run.stdout
    _, _, program = run.stdout.partition("Use it:\n")
    assert program.splitlines()[0] == "  from echo_env import EchoAction, EchoEnv"
    assert '  with EchoEnv.from_docker_image("openenv-echo") as env:' in program
    card = json.loads(openenv("info", "echo", "--json", variables=alone).stdout)
    assert card["schemas"]["action"]["properties"].keys() >= {"message"}
    assert card["limits"] == {"image": "openenv-echo"}
    assert card["serve"] == "openenv serve echo"
    assert "Serve it:\n  openenv serve echo\n" in run.stdout


def test_info_shows_what_resets_take_where_the_server_is_whole(tmp_path: Path) -> None:
    server = """
        from openenv import Action, Environment, Observation, Options, create_app

        class CaveOptions(Options, variables="CAVE_"):
            size: int = 5

        class Cave(Environment[Action, Observation]):
            OPTIONS = CaveOptions

            def reset(self, **options): ...
            def step(self, action): ...

        app = create_app(Cave)
    """
    lacks = "from openenv import needs\nwith needs('cave[server]'):\n    import no_such_engine\n"
    files = {"openenv.yaml": "name: cave_env\napp: world:app\n", "world.py": dedent(server)}
    world = install(tmp_path, "openenv-cave-env", "cave_env", prefix="Cave", files=files)
    whole = openenv("info", "cave", site=tmp_path).stdout
    assert "\nreset CaveOptions\n  size: integer = 5\n" in whole
    (world / "world.py").write_text(lacks)
    lacking = openenv("info", "cave", site=tmp_path).stdout
    assert "CaveOptions" not in lacking
    assert "openenv serve cave   # not yet: " in lacking
    assert "No module named 'no_such_engine'; pip install 'cave[server]'\n" in lacking


@pytest.mark.parametrize("here", ["echo-env:latest", "openenv-echo"])
def test_info_names_the_image_that_this_machine_has(tmp_path: Path, here: str) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\n[ "$*" = "image inspect {here}" ]\n')
    docker.chmod(0o755)
    run = openenv("info", "echo", variables={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert f'EchoEnv.from_docker_image("{here}")' in run.stdout


def test_info_of_a_project_shows_its_limits_and_models() -> None:
    run = openenv(
        "info", str(ROOT / "envs" / "blackjack_env"), variables={"MAX_CONCURRENT_ENVS": "7"}
    )
    assert run.returncode == Exit.OK, run.stderr
    assert "max_sessions: 7" in run.stdout
    assert "move: 'hit' | 'stand'" in run.stdout
    card = json.loads(openenv("info", "openenv.testing:Counting", "--json").stdout)
    assert card["name"] == "Counting"
    assert card["schemas"].keys() == {"action", "observation", "state"}


def test_info_of_a_server_is_a_program_that_plays_there(served: Served) -> None:
    url = f"http://127.0.0.1:{served.port}"
    run = openenv("info", url)
    assert run.returncode == Exit.OK
    assert "max_sessions: 8" in run.stdout
    assert "amount: integer = 1" in run.stdout
    _, _, program = run.stdout.partition("Use it:\n")
    code = "\n".join(line[2:] for line in program.splitlines())
    played = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(result.observation['count'])"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert played.stdout == "1\n"


def test_info_of_a_server_that_wants_a_token_says_so() -> None:
    with serving(Counting, token="of-the-test") as served:
        url = f"http://127.0.0.1:{served.port}"
        run = openenv("info", url)
        assert (run.returncode, run.stdout) == (Exit.FAILED, "")
        assert "set OPENENV_CLIENT_TOKEN" in run.stderr
        run = openenv("info", url, variables={"OPENENV_CLIENT_TOKEN": "of-the-test"})
        assert (run.returncode, "amount: integer = 1" in run.stdout) == (Exit.OK, True)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nothing_like_it", "Unknown environment 'nothing_like_it'"),
        ("http://127.0.0.1:9", "Failed to connect"),
        ("nowhere.py", "there is no file"),
        ("/", "holds no openenv.yaml"),
        ("json:dumps", "cannot tell the action class of dumps"),
    ],
)
def test_info_of_what_is_none_says_so(target: str, said: str) -> None:
    run = openenv("info", target)
    assert (run.returncode, run.stdout) == (Exit.FAILED, "")
    assert run.stderr.startswith("Error: ")
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_info_of_a_package_that_cannot_be_imported_tells_the_rest(tmp_path: Path) -> None:
    install(tmp_path, "openenv-cave-env", "cave_env", files={"client.py": "import nothing_here"})
    run = openenv("info", "cave", site=tmp_path)
    assert run.returncode == Exit.OK
    assert "A world" in run.stdout
    assert "Problem: openenv-cave-env is installed, but cave_env.client" in run.stdout


@pytest.mark.parametrize(
    "said",
    [
        [],
        {},
        {"name": 7, "version": [], "action": []},
        {"action": {"properties": [], "required": "all"}, "status": "healthy"},
        {
            "action": {
                "properties": {"a": 1, "b": {"type": [1], "enum": 5}},
                "required": [["a"], "b"],
            }
        },
        {"action": {"properties": {"a": {"default": 1}}, "required": 5}},
        {"action": {"anyOf": "x", "oneOf": [1, {"anyOf": 7}], "title": None}},
    ],
)
def test_info_of_a_server_that_says_anything(said: Any) -> None:
    class Anything(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Anything) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}"
            lines = list(_lines(card_of(url)))
        finally:
            server.shutdown()
    assert lines[0].endswith(f"({url})")


# ── doctor ────────────────────────────────────────────────────────────────────────────────────────


def test_doctor_has_a_line_for_everything_and_exits_with_0() -> None:
    run = openenv("doctor")
    assert run.returncode == Exit.OK
    named = {line.split()[1]: line.split()[0] for line in run.stdout.splitlines() if line[0] != " "}
    assert named.keys() == doctor.CHECKS.keys()
    assert (named["python"], named["packages"]) == ("ok", "ok")
    assert set(named.values()) <= {"ok", "partial", "missing"}


def test_doctor_for_programs_and_what_they_require(tmp_path: Path) -> None:
    alone = {"PATH": str(tmp_path), "KUBECONFIG": str(tmp_path / "none")}
    run = openenv("doctor", "--json", "--require", "python", "--require", "docker", variables=alone)
    assert run.returncode == Exit.FAILED
    assert "Missing: docker" in run.stderr
    findings = json.loads(run.stdout)
    assert findings["python"]["state"] == "ok"
    assert findings["docker"]["state"] == "missing"
    assert "install Docker" in findings["docker"]["advice"]
    assert findings["kubernetes"]["state"] == "missing"
    assert findings["git"]["state"] == "missing"
    assert findings["packages"]["details"].keys() >= {"fastapi", "pydantic", "wire"}
    assert all(f["advice"] for f in findings.values() if f["state"] == "missing")


def test_doctor_knows_what_it_can_require() -> None:
    run = openenv("doctor", "--require", "patience")
    assert run.returncode == Exit.USAGE
    assert "there is no patience to require; there are python" in run.stderr


def test_a_tool_that_fails_or_lies_hides_no_other(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    docker.chmod(0o755)
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\nexit 7\n")
    uv.chmod(0o755)
    findings = json.loads(
        openenv("doctor", "--json", variables={"PATH": f"{tmp_path}:/usr/bin:/bin"}).stdout
    )
    assert findings["docker"]["state"] == "missing"
    assert "start it" in findings["docker"]["advice"]
    assert findings["uv"]["state"] == "missing"
    assert findings["python"]["state"] == "ok"


def test_what_hangs_does_not_hang_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang() -> Finding:
        time.sleep(600)
        raise AssertionError

    checks: Mapping[str, Any] = {"python": doctor.CHECKS["python"], "docker": hang}
    monkeypatch.setattr(doctor, "CHECKS", checks)
    findings = examine(patience_s=1.0)
    assert findings["python"].state == "ok"
    assert findings["docker"].state == "missing"
    assert "did not answer within 1 s" in findings["docker"].found


def test_a_docker_that_hangs_is_given_up(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\nexec sleep 300\n")
    docker.chmod(0o755)
    run = openenv("doctor", "--json", variables={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert run.returncode == Exit.OK
    findings = json.loads(run.stdout)
    assert findings["docker"]["state"] == "missing"
    assert "does not answer within" in findings["docker"]["found"]
    assert findings["python"]["state"] == "ok"
