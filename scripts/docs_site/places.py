"""Where the site has each file of the repository.

Its pages are Markdown that reads as well where the repository is browsed, so they link to files as
these lie there: `../benchmarks/RESULTS.md`, `../envs/echo_env`. Here such links are turned.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN = (".md", ".png", ".svg")
_OF_ENVIRONMENT = re.compile(r"envs/(\w+)_env/README\.md")
_TOKEN = re.compile(
    r"^(?P<mark>`{3,})\w.*?^(?P=mark)$"
    r"|(?P<comment>^<!--.*?-->\n?)"
    r"|(?P<code>(?<!`)`[^`\n]+`)"
    r"|\]\((?P<path>[^)#\s:]+)(?P<rest>(?:#[^)\s]+)?)\)",
    re.DOTALL | re.MULTILINE,
)


def page_of(path: str) -> str:
    """The site's name for a file or folder of the repository, both as seen from their roots."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if found := _OF_ENVIRONMENT.fullmatch(path):
        return f"environments/{found[1]}.md"
    return path if path.endswith(SHOWN) else f"source/{path}.md"


def targets(path: str) -> Iterator[str]:
    """What a file of the repository links to in the repository, if it is Markdown."""
    if not path.endswith(".md"):
        return
    for token in _TOKEN.finditer((ROOT / path).read_text(encoding="utf-8")):
        if token["path"] and (ROOT / (target := _target(path, token["path"]))).exists():
            yield target


def turned(markdown: str, path: str) -> str:
    """A page's text as the site has it.

    Its links lead to the site's pages, the comments that are for tests are gone, and a bar in a
    table's code has no backslash, which the site's Markdown would show.

    Args:
        markdown: the text.
        path: the file that it is from.
    """
    here = os.path.dirname(page_of(path))

    def anew(token: "re.Match[str]") -> str:
        if token["path"]:
            target = page_of(_target(path, token["path"]))
            return f"]({os.path.relpath(target, here or '.')}{token['rest']})"
        if token["code"] and markdown.startswith("|", markdown.rfind("\n", 0, token.start()) + 1):
            return token["code"].replace("\\|", "|")
        return "" if token["comment"] else token[0]

    return _TOKEN.sub(anew, markdown)


def _target(path: str, link: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(path), link))
