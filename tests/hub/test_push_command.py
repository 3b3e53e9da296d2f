"""`openenv push` in a process of its own, which alone knows the token."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hub.api import TOKEN, FakeHub
from tests.hub.conftest import FILES, Openenv, write
from tests.hub.publishing import PASSWORD, SPACE
from tests.serving import eventually


@pytest.mark.timeout(60)
def test_the_command_ends_with_the_address_and_what_to_type(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    (project / "world.bin").write_bytes(os.urandom(3 << 20))
    write(project, {"prod.env": "A=1"})
    served_hub.fail("PUT /lfs/", 0)
    run = openenv("push", str(project), "-n", "2", "--secret", "KEY", typed=f"{PASSWORD}\n")
    assert run.returncode == 0, run.stderr
    pages = [f"{served_hub.url}/spaces/{SPACE}-{number}" for number in (1, 2)]
    assert run.stdout.splitlines() == pages
    assert "left out: prod.env" in run.stderr
    assert "(changes: 10, 3.1 MB)" in run.stderr
    assert "openenv validate https://ada-tiny-env-1.hf.space" in run.stderr
    assert PASSWORD not in run.stdout + run.stderr
    for space in served_hub.spaces.values():
        assert space.files["world.bin"] == (project / "world.bin").read_bytes()
        assert space.secrets == {"KEY": PASSWORD}
    assert served_hub.spaces.keys() == {f"{SPACE}-1", f"{SPACE}-2"}


@pytest.mark.timeout(60)
def test_a_dry_run_only_reads(served_hub: FakeHub, openenv: Openenv, project: Path) -> None:
    served_hub.add(
        SPACE, files={"client.py": FILES["client.py"].encode(), "models.py": b"", "old": b""}
    )
    run = openenv(
        *("push", str(project), "--dry-run", "--json", "--delete", "old"),
        *("-e", "A=one", "--secret", f"KEY={PASSWORD}"),
    )
    assert run.returncode == 0, run.stderr
    plan = json.loads(run.stdout)
    [space] = plan["spaces"]
    fates = {file["path"]: file["fate"] for file in space["files"]}
    assert (space["name"], space["exists"]) == (SPACE, True)
    assert (fates["client.py"], fates["models.py"]) == ("same", "change")
    assert (fates["Dockerfile"], fates["old"]) == ("add", "delete")
    assert (plan["variables"], plan["secrets"]) == ({"A": "one"}, ["KEY"])
    assert PASSWORD not in run.stdout + run.stderr
    assert {request.method for request in served_hub.requests} == {"GET"}


@pytest.mark.timeout(60)
def test_without_a_token_a_dry_run_asks_nobody_and_a_push_says_how_to_log_in(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    dry = openenv("push", str(project), "--dry-run", token=None)
    assert dry.returncode == 0, dry.stderr
    assert "server/app.py" in dry.stdout
    assert "no access token" in dry.stderr
    real = openenv("push", str(project), token=None)
    assert real.returncode == 2
    assert "hf auth login" in real.stderr
    assert not [r for r in served_hub.requests if "agent-harnesses" not in r.path]


@pytest.mark.timeout(60)
def test_the_second_of_several_spaces_fails(
    served_hub: FakeHub, openenv: Openenv, project: Path
) -> None:
    served_hub.add(f"{SPACE}-1")
    served_hub.fail("POST .*tiny_env-2/commit", 403)
    run = openenv("push", str(project), "-n", "3", "--secret", f"KEY={PASSWORD}")
    assert run.returncode == 1
    assert run.stdout == ""
    *_, complete, left, error = run.stderr.splitlines()
    assert complete == f"{served_hub.url}/spaces/{SPACE}-1 is complete."
    assert left.startswith(f"The Space {served_hub.url}/spaces/{SPACE}-2 exists now, without files")
    assert error.startswith(f"Error: cannot upload to {SPACE}-2 (403)")
    assert f"{SPACE}-3" not in served_hub.spaces
    assert PASSWORD not in run.stderr


@pytest.mark.timeout(60)
def test_an_interrupt_says_what_exists(
    served_hub: FakeHub, project: Path, openenv: Openenv, tmp_path: Path
) -> None:
    served_hub.fail("POST .*/commit/main", 503, after_s=60)
    environ = {**os.environ, "HF_ENDPOINT": served_hub.url, "HF_TOKEN": TOKEN}
    command = [sys.executable, "-m", "openenv.cli", "push", str(project)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            eventually(lambda: f"POST /api/spaces/{SPACE}/commit/main" in served_hub.arrived, 30)
            child.send_signal(signal.SIGINT)
            _, words = child.communicate(timeout=15)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "exists now, without files" in words


@pytest.mark.timeout(60)
@pytest.mark.parametrize("dry", [False, True])
def test_without_the_library_the_way_to_get_it_is_told(project: Path, dry: bool) -> None:
    code = (
        "import sys; sys.modules['huggingface_hub'] = None\n"
        "from openenv.cli.__main__ import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "push", str(project), *["--dry-run"] * dry],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == (0 if dry else 1)
    assert "pip install 'openenv-core[hub]'" in run.stderr
