"""The fenced blocks of a Markdown file, and what the comment above each says about testing it.

<!-- test: file NAME -->     the next block is the content of a file of that name
<!-- test: more NAME -->     the next block is what comes behind it in that file
<!-- test: needs PAGE NAME --> that file is as the page of that name, beside this one, shows it
<!-- test: output -->        the next block is what the last Python block has printed
<!-- test: compile -->       the next block is only compiled: it would run for ever
<!-- test: frames URL -->    the next block is sent (→) and answered (←) over a WebSocket; a
                             subprotocol may follow the address
<!-- test: setup             the comment's own lines are run, and no reader sees them
CODE -->
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIAL = sorted((ROOT / "docs/tutorial").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *TUTORIAL]
OF_ENVIRONMENTS = [*ROOT.glob("envs/*/README.md"), *ROOT.glob("docs/environments/*.md")]
"""What the READMEs show is tried with the tests of each, and the pages repeat them."""

_TOKEN = re.compile(
    r"^<!-- test: (?P<order>.*?)-->\n"
    r"|^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes:
        language: what follows the fence.
        text: its lines.
        line: where the text begins in its file.
        order: what the comment above it says.
    """

    language: str
    text: str
    line: int
    order: str = ""


def blocks(page: Path) -> Iterator[Block]:
    """A page's blocks in order; hidden setup is a Python block too."""
    content, order = page.read_text(encoding="utf-8"), ""
    for token in _TOKEN.finditer(content):
        group = "order" if token["language"] is None else "text"
        line = content.count("\n", 0, token.start(group)) + 1
        if group == "text":
            yield Block(token["language"], token["text"], line, order)
            order = ""
        elif token["order"].startswith("setup\n"):
            yield Block("python", token["order"].removeprefix("setup\n"), line + 1)
        elif token["order"].startswith("needs "):
            yield Block("", "", line, token["order"].strip())
        else:
            order = token["order"].strip()


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command after a `$` in a console block, without its comment, and its output."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield command.split("  #")[0].strip(), output.strip()
