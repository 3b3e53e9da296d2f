"""What the page copies as Python and curl runs as it is, and does what was done."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import Served, serving
from tests.web.snippet_world import Note, Notebook, Noted

ROOT = Path(__file__).parent.parent.parent
ESBUILD = ROOT / "web/node_modules/.bin/esbuild"
PATIENCE_S = 50
PROGRAM = """
import {{ asCurl, asPython }} from {snippets};
import {{ readFileSync }} from "node:fs";
const {{ entries, environment }} = JSON.parse(readFileSync(0, "utf8"));
const texts = {{
  curl: asCurl(entries, environment),
  async: asPython(entries, environment),
  sync: asPython(entries, environment, "sync"),
}};
console.log(JSON.stringify(texts));
"""
OWN_CLASSES = {
    "module": "tests.web.snippet_world",
    "client": "NotebookClient",
    "action": "Note",
}
RESET = {"seed": 7, "episode_id": 'it\'s "the" one', "two words": [1, None, True, {"a": 0.5}]}
NOTES: list[dict[str, Any]] = [
    {"text": "plain", "tags": ["a", "b"]},
    {"text": "$HOME `id` \\n 'single' \"double\" !x %s {y}\nsecond line\ttab\u2028\u202e end ü 🎉"},
    {"text": "long", "options": {"class": None, "nested": {"list": [1.5, -2, False] * 20}}},
]
Write = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Has the page's own code write down a history."""
    if not ESBUILD.exists() or shutil.which("node") is None:
        assert os.environ.get("OPENENV_REQUIRE_BROWSER") != "1", "run `make web` first"
        pytest.skip("NOT TESTED: what the page copies, as its tools aren't installed")
    folder = tmp_path_factory.mktemp("snippets")
    source, script = folder / "write.ts", folder / "write.mjs"
    source.write_text(
        PROGRAM.format(snippets=json.dumps(str(ROOT / "web/src/history/snippets.ts")))
    )
    into = ["--bundle", "--platform=node", "--format=esm", f"--outfile={script}"]
    _run([ESBUILD, source, *into, "--log-level=warning"])

    def write(address: str, python: dict[str, str] | None = None) -> dict[str, str]:
        history = json.dumps({"entries": _entries(), "environment": _environment(address, python)})
        texts: dict[str, str] = json.loads(_run(["node", script], history))
        return texts

    return write


@pytest.fixture(scope="module")
def notebook() -> Iterator[Served]:
    """A server of notebooks."""
    with serving(Notebook, action_cls=Note, observation_cls=Noted) as served:
        yield served


@pytest.mark.parametrize("waiting", ["async", "sync"])
@pytest.mark.parametrize("python", [OWN_CLASSES, None], ids=["own_classes", "generic"])
def test_the_program_does_what_was_done(
    write: Write, notebook: Served, tmp_path: Path, waiting: str, python: dict[str, str] | None
) -> None:
    text = write(f"http://127.0.0.1:{notebook.port}/", python)[waiting]
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    printed = _run([sys.executable, "-W", "error", program]).splitlines()
    assert len(printed) == len(NOTES)
    assert printed[-1].endswith(" 3.0 False")
    assert all(repr(note["text"]) in printed[-1] for note in NOTES)
    if python is None:
        seen = ast.literal_eval(printed[-1].removesuffix(" 3.0 False"))
        assert seen["began"] == RESET
        assert seen["notes"] == [{"tags": [], "options": {}, **note} for note in NOTES]


def test_the_shell_does_what_was_done(write: Write, notebook: Served, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("NOT TESTED: what the page copies as curl, as there is none")
    script = tmp_path / "script.sh"
    script.write_text(write(f"http://127.0.0.1:{notebook.port}/")["curl"], encoding="utf-8")
    printed = _run(["sh", "-eu", script]).split("\n")
    answers = [json.loads(line) for line in printed if line]
    assert [answer["reward"] for answer in answers] == [None, 1.0, 2.0, 3.0]
    assert answers[-1]["observation"]["began"] == RESET
    assert [note["text"] for note in answers[-1]["observation"]["notes"]] == [
        note["text"] for note in NOTES
    ]
    assert notebook.active() == 0


def _run(command: list[str | Path], given: str = "") -> str:
    ran = subprocess.run(
        command,
        input=given,
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


def _entries() -> list[dict[str, Any]]:
    calls = [("reset", RESET), *(("step", note) for note in NOTES)]
    failure = {"code": "VALIDATION_ERROR", "message": "no", "details": {}, "faults": []}
    tried = {"kind": "step", "action": {"text": 1}, "error": failure}
    return [{"kind": kind, "action": action} for kind, action in calls] + [tried]


def _environment(address: str, python: dict[str, str] | None) -> dict[str, Any]:
    config = {"target": None, "needs_token": False, "python": python}
    return {"address": address, "config": config, "metadata": {"name": "Notebook"}, "schemas": {}}
