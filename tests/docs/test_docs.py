"""The README and the pages of docs: what they say is so."""

import dataclasses
import inspect
import re
import sys
from pathlib import Path
from typing import TypeVar

import pytest

from openenv import EnvClient, Limits, errors, settings
from tests.docs.blocks import OF_ENVIRONMENTS, PAGES, ROOT, TUTORIAL
from tests.docs.reader import Reader

LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
ROW = re.compile(r"^\| `([A-Z_]+)` \|.*\|$", re.MULTILINE)


def _path(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", PAGES, ids=_path)
def test_what_a_page_shows_works(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    try:
        Reader(page, tmp_path).read()
    finally:
        for name in set(sys.modules) - before:
            if name == "page" or str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


@pytest.mark.parametrize("page", [*PAGES, *sorted(OF_ENVIRONMENTS)], ids=_path)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        if "://" in link["path"]:
            continue
        target = page.parent / link["path"] if link["path"] else page
        assert target.exists(), f"{page.name} links to {link['path']}"
        if link["anchor"]:
            assert link["anchor"] in _anchors(target), f"{page.name} links to {link[0]}"


def _anchors(page: Path) -> set[str]:
    """The names that Markdown's readers give to headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {link["path"] for link in LINK.finditer((ROOT / "README.md").read_text())}
    assert {f"docs/{page.name}" for page in PAGES if page.parent.name == "docs"} <= linked


def test_every_chapter_is_linked_from_the_first_page_of_the_tutorial() -> None:
    first = ROOT / "docs/tutorial/README.md"
    linked = {link["path"] for link in LINK.finditer(first.read_text(encoding="utf-8"))}
    assert {page.name for page in TUTORIAL if page != first} <= linked


def test_the_files_that_the_architecture_names_exist() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", page))
    assert {name for name in named if not (ROOT / "src/openenv" / name).exists()} == set()


def test_the_settings_are_those_of_the_code() -> None:
    page = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    told = {row[1]: row[0] for row in ROW.finditer(page)}
    documented = {row[1]: row[0] for row in ROW.finditer(settings.__doc__ or "")}
    code = Path(settings.__file__).read_text()
    read = set(re.findall(r"\"((?:OPENENV_|MAX_|ENABLE_|ENV_|SPACE_)[A-Z_]+)\"", code))
    assert told == documented
    assert set(documented) == read


def test_the_limits_are_those_of_the_code() -> None:
    told = _table("docs/serve.md", "`Limits`")
    shown = {"max_message_bytes": "16 MiB", "max_reply_bytes": "100 MiB"}
    fields = dataclasses.fields(Limits)
    assert told == {f.name: shown.get(f.name) or _number(f.default) for f in fields}


def test_the_arguments_of_clients_are_those_of_the_code() -> None:
    parameters = inspect.signature(EnvClient).parameters
    for names, defaults in _table("docs/clients.md", "argument").items():
        if names != "timeout_s":
            values = [_number(parameters[name].default) for name in names.split("`, `")]
            assert ", ".join(values) == defaults


def _table(page: str, first: str) -> dict[str, str]:
    """The first two columns of the table whose first column is called that."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = text[text.index(f"| {first} |") :].partition("\n\n")[0].partition("\n")[2]
    return dict(re.findall(r"^\| `(\w[^|]*?)`[^`|]* \| ?(.*?) \|", table, re.MULTILINE))


def _number(value: object) -> str:
    return "none" if value is None else f"{value:g}"


def test_every_error_and_its_code_are_explained() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    answers = _kinds(errors.SessionError)
    codes = {code for kind in answers for code in (kind.code, *kind.codes)}
    names = {kind.__name__ for kind in answers | _kinds(errors.OpenEnvError)}
    assert {word for word in codes | names if f"`{word}`" not in page} == set()


KindT = TypeVar("KindT", bound=errors.OpenEnvError)


def _kinds(root: type[KindT]) -> set[type[KindT]]:
    own = {root} if root.__module__ == errors.__name__ else set()
    return own.union(*(_kinds(child) for child in root.__subclasses__()))
