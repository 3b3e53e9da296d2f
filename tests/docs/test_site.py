"""The documentation site: it is built without a warning, has all names, and asks nobody else."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.docs_site.places import page_of, turned
from tests.docs.blocks import ROOT

MODULES = [
    *("openenv", "openenv.evals", "openenv.gym", "openenv.harness", "openenv.integrations.trl"),
    *("openenv.llm", "openenv.providers", "openenv.rollout", "openenv.rubrics", "openenv.testing"),
]
PACKAGES = {"cli", "core", "errors"}
"""What `openenv` exports besides names."""
ELSEWHERE = re.compile(
    r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*>|url\(.?https?:"
)
BUILD = [sys.executable, "-m", "mkdocs", "build"]

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `scripts/docs build` does."""
    folder = tmp_path_factory.mktemp("site")
    _run([sys.executable, "-m", "scripts.docs_site.prepare", str(folder / "prepared")])
    settings = folder / "prepared/mkdocs.yml"
    told = _run([*BUILD, "--config-file", str(settings), "--site-dir", str(folder / "built")])
    assert "WARNING" not in told, told
    return folder / "built"


def _run(command: list[str]) -> str:
    status, told = _ended(command)
    assert status == 0, told
    return told


def _ended(command: list[str]) -> tuple[int, str]:
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(
        command,
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


def test_all_is_served_by_the_site_itself(site: Path) -> None:
    texts = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    found = {path.name: ELSEWHERE.findall(path.read_text(encoding="utf-8")) for path in texts}
    assert {name: links for name, links in found.items() if links} == {}


def test_every_page_of_docs_is_there(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    heads = {"README", "index"}
    folders = [page.parent if page.stem in heads else page.with_suffix("") for page in pages]
    assert [folder for folder in folders if not (site / folder / "index.html").is_file()] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_what_a_module_exports(site: Path, module: str) -> None:
    pages = "".join(page.read_text("utf-8") for page in site.glob("reference/*/index.html"))
    told = set(re.findall(r"<h2 id=\"openenv\.[\w.]*?(\w+)\"", pages))
    exported = vars(importlib.import_module(module))["__all__"]
    assert set(exported) - PACKAGES - told == set()


def test_links_lead_to_where_the_site_has_what_they_mean() -> None:
    text = "[a](../benchmarks/RESULTS.md#step) [b](../envs/echo_env) [c](tools.md) `](x.md)`"
    expected = "[a](benchmarks/RESULTS.md#step) [b](source/envs/echo_env.md) [c](tools.md)"
    assert turned(text, "docs/train.md") == f"{expected} `](x.md)`"
    assert turned("[a](docs/tools.md)", "CONTRIBUTING.md") == "[a](tools.md)"
    assert turned("[a](../tools.md#b)", "docs/tutorial/1-use.md") == "[a](../tools.md#b)"
    assert page_of("envs/chess_env/README.md") == "environments/chess.md"


def test_what_is_for_tests_is_not_shown_and_tables_have_their_bars() -> None:
    page = "<!-- test: setup\nimport os\n-->\n```python\n# <!-- kept -->\n```\n| `int \\| None` |\n"
    assert turned(page, "docs/a.md") == "```python\n# <!-- kept -->\n```\n| `int | None` |\n"


@pytest.mark.parametrize("link", ["nowhere.md", "#nothing", "img/none.png"])
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, link: str) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text(f"# A page\n\n[A link]({link}).\n")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: pages\nnav: [index.md]\n"
        "theme: mkdocs\nextra_css: []\nnot_in_nav: ''\n"
    )
    command = [*BUILD, "--config-file", str(settings), "--site-dir", str(tmp_path / "site")]
    status, told = _ended(command)
    assert status == 1, told
    assert "WARNING" in told
