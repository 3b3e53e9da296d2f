"""What lies beside an environment's code and is kept from its sessions."""

import logging
import os
import sys
from pathlib import Path

import pytest

from openenv.runtime import concealed
from openenv.runtime.concealed import find_concealed
from openenv.runtime.confine import probe
from openenv.runtime.confine.confinement import Confinement
from openenv.runtime.confine.layout import layout_of
from tests.runtime.families import Relative
from tests.runtime.seats import serving, step

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def make(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")


def found(root: Path, *more: Path) -> set[str]:
    paths = find_concealed([str(root), *map(str, more)])
    return {os.path.relpath(path, root) for path in paths}


def test_hidden_files_and_credentials_are_found_at_any_depth(tmp_path: Path) -> None:
    make(tmp_path, "env.py", ".env", ".git/config", "id_rsa", "token.py", "answers.json")
    make(tmp_path, "data/deep/down/.netrc", "data/prod.env", "secrets/one", "data/levels.txt")
    assert found(tmp_path) == {
        *(".env", ".git", "id_rsa", "data/deep/down/.netrc", "data/prod.env", "secrets"),
    }


def test_code_is_never_taken_away(tmp_path: Path) -> None:
    make(tmp_path, "pkg/secrets/__init__.py", "pkg/secrets/.env", ".tools/env/main.py")
    make(tmp_path, ".tools/env/.env", ".tools/other")
    shown = tmp_path / ".tools/env"
    assert found(tmp_path, shown) == {"pkg/secrets/.env", ".tools/env/.env", ".tools/other"}


def test_this_python_and_what_is_installed_stay_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, ".venv/pyvenv.cfg", "lib/site-packages/certifi/cacert.pem")
    make(tmp_path, "flat/certifi-1.dist-info/RECORD", "flat/certifi/cacert.pem", "flat/.env")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert found(tmp_path) == {"flat/.env"}
    assert find_concealed([os.path.dirname(os.__file__)]) == ()


def test_a_link_stands_for_what_it_leads_to(tmp_path: Path) -> None:
    code, outside = tmp_path / "code", tmp_path / "outside"
    make(tmp_path, "code/settings.cfg", "outside/file")
    (code / ".env").symlink_to("settings.cfg")
    (code / ".far").symlink_to(outside)
    (code / ".round").symlink_to(".round")
    assert found(code) == {"settings.cfg", ".round"}


def test_a_search_that_is_cut_short_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path, ".env", "deep/.env")
    monkeypatch.setattr(concealed, "MOST_ENTRIES", 2)
    with caplog.at_level(logging.WARNING):
        assert found(tmp_path) == {".env"}
    assert "only 2 files" in caplog.text


def test_where_nothing_can_be_covered_the_rest_is_shown_apart(tmp_path: Path) -> None:
    make(tmp_path, ".env", "env.py", "data/.env", "data/levels", "other/file")
    (tmp_path / "link").symlink_to("/etc")
    shown = (str(tmp_path),)
    layout = layout_of(Confinement(readable=shown, concealed=find_concealed(shown)))
    allowed = {path: lists for path, lists in layout.allowed() if path.startswith(shown[0])}
    names = {os.path.relpath(path, tmp_path): lists for path, lists in allowed.items()}
    assert names == {
        ".": True,
        "env.py": False,
        "data": True,
        "data/levels": False,
        "other": False,
    }


@pytest.mark.skipif("mountns" not in probe(), reason="no mount namespaces")
async def test_a_session_finds_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    make(tmp_path, "env.py", ".env", ".git/config", "secrets/one")
    monkeypatch.syspath_prepend(str(tmp_path))
    look = (
        "import os\n"
        f"os.chdir({str(tmp_path)!r})\n"
        "print([open(n).read() for n in ('env.py', '.env')], os.listdir('.git'), "
        "os.listdir('secrets'), os.access('.env', os.W_OK), os.access('.git', os.W_OK))"
    )
    async with serving(Relative, "sandbox") as sessions:
        seat = await sessions.open()
        seen = (await step(seat, "python", look)).value
    assert seen == "['secret', ''] [] [] False False\n"


async def test_where_nothing_keeps_sessions_from_them_the_log_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path, ".env")
    monkeypatch.syspath_prepend(str(tmp_path))
    bare = probe().without(["mountns", "landlock"])
    monkeypatch.setattr("openenv.runtime.sandbox.probe", lambda: bare)
    with caplog.at_level(logging.WARNING):
        async with serving(Relative, "sandbox"):
            pass
    assert str(tmp_path / ".env") in caplog.text
