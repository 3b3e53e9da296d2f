"""Installing from a repository: with consent alone, at the revision that was named, never two."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from openenv.catalog.install import Source, from_source
from openenv.protocol.errors import ConfigurationError
from tests.catalog.packages import BACKEND, Repository

pytestmark = pytest.mark.timeout(240)
SCRIPT = """
import importlib, json, sys
from openenv.catalog.auto import AutoAction, AutoEnv
from openenv.catalog.install import from_source

def answer(call, *args, **options):
    try:
        found = call(*args, **options)
        return getattr(found, "env_key", None) or found.__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def revision():
    from importlib.metadata import distribution
    return json.loads(distribution("openenv-tiny-env").read_text("direct_url.json"))["vcs_info"]

print(json.dumps(eval(sys.argv[1])))
"""


class Venv:
    """An environment of its own that sees our packages; its installer is uv or pip."""

    def __init__(self, directory: Path, installer: str) -> None:
        pip = [] if installer == "pip" else ["--without-pip"]
        command = [sys.executable, "-m", "venv", *pip, str(directory)]
        subprocess.run(command, check=True, timeout=120)
        self.python = directory / "bin" / "python"
        lib = next((directory / "lib").glob("python*/site-packages"))
        paths = [p for p in sys.path if "site-packages" in p or p.endswith("src")]
        (lib / "ours.pth").write_text("\n".join([*paths, sysconfig.get_path("purelib")]) + "\n")
        self._path = f"{directory / 'bin'}:/usr/bin:/bin"
        if installer == "uv":
            uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
            if uv is None:
                pytest.skip("uv is not installed")
            self._path = f"{Path(uv).parent}:{self._path}"

    def says(self, expression: str, **variables: str) -> Any:
        """What an expression is there."""
        environ = {**os.environ, "PATH": self._path, "UV_OFFLINE": "1", "PIP_NO_INDEX": "1"}
        environ |= variables
        run = subprocess.run(
            [self.python, "-c", SCRIPT, expression],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            env=environ,
            cwd="/",
        )
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_repository_is_installed_with_consent_at_the_revision_that_was_named(
    tmp_path: Path, repository: Repository, installer: str
) -> None:
    venv, url = Venv(tmp_path / "venv", installer), repository.url
    refused = venv.says(f"answer(from_source, {url!r})")
    assert "trust_remote_code=True" in refused
    assert "Unknown environment" in venv.says("answer(AutoEnv.get_env_class, 'tiny')")

    assert venv.says(f"answer(from_source, '{url}@v1', trusted=True)") == "tiny"
    assert venv.says("revision()")["commit_id"] == repository.commit("v1")
    assert venv.says("answer(AutoEnv.get_env_class, 'tiny')") == "TinyEnv"
    assert venv.says("importlib.import_module('tiny_env').REVISION") == "v1"
    # what is there needs no consent
    for same in (url, f"{url}@v1", f"{url}@{repository.commit('v1')[:10]}"):
        assert venv.says(f"answer(AutoAction.from_env, {same!r})") == "TinyAction"

    assert "trust_remote_code" in venv.says(f"answer(from_source, '{url}@v2')")
    consent = {"OPENENV_TRUST_REMOTE_CODE": "1"}
    assert venv.says(f"answer(AutoAction.from_env, '{url}@v2')", **consent) == "TinyAction"
    assert venv.says("importlib.import_module('tiny_env').REVISION") == "v2"

    mixed = venv.says(
        f"[answer(AutoAction.from_env, '{url}@v2'), "
        f"answer(from_source, '{url}@v1', trusted=True), answer(AutoEnv.get_env_class, 'tiny')]"
    )
    assert mixed[0::2] == ["TinyAction", "TinyEnv"]
    assert "a program of its own" in mixed[1]
    failed = venv.says(f"answer(from_source, '{url}@nowhere', trusted=True)")
    assert failed.startswith("ProviderError")
    assert "could not be installed" in failed


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_what_builds_a_package_sees_no_credentials(
    tmp_path: Path, repository: Repository, installer: str
) -> None:
    backend = repository.directory / "backend.py"
    backend.write_text(f"import os\nassert 'MY_API_TOKEN' not in os.environ\n{BACKEND}")
    repository.git("commit", "-qam", "curious")
    venv = Venv(tmp_path / "venv", installer)
    install = f"answer(from_source, {repository.url!r}, trusted=True)"
    assert venv.says(install, MY_API_TOKEN="the trainer's") == "tiny"


def test_a_repository_without_an_environment_says_so(
    tmp_path: Path, repository: Repository
) -> None:
    venv = Venv(tmp_path / "venv", "uv")
    (repository.directory / "tiny_env" / "client.py").unlink()
    repository.git("commit", "-qam", "nothing left")
    answer = venv.says(f"answer(from_source, {repository.url!r}, trusted=True)")
    assert "brings no environment" in answer


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a/b", Source("https://huggingface.co/spaces/a/b")),
        ("a/b@c", Source("https://huggingface.co/spaces/a/b", "c")),
        ("https://huggingface.co/spaces/a/b", Source("https://huggingface.co/spaces/a/b")),
        ("git+https://h/x.git@feature/y", Source("https://h/x.git", "feature/y")),
        ("git+https://me:pass@h/x@v1", Source("https://me:pass@h/x", "v1")),
        ("git+ssh://git@h/x/y.git", Source("ssh://git@h/x/y.git")),
        ("git+file:///tmp/a@v1", Source("file:///tmp/a", "v1")),
    ],
)
def test_how_sources_are_spelled(name: str, source: Source) -> None:
    assert Source.named(name) == source
    assert Source.named(str(source)) == source


@pytest.mark.parametrize("name", ["git+", "git+https", "a", "a/b/c", "--index-url=x/y", "git+a b"])
def test_what_is_no_source(name: str) -> None:
    with pytest.raises(ConfigurationError, match="got"):
        Source.named(name)


def test_a_password_is_in_no_error() -> None:
    with pytest.raises(ConfigurationError) as caught:
        from_source("git+https://me:hunter2@localhost/x@v1")
    assert "hunter2" not in str(caught.value)
