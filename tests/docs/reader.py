"""A reader who does what a page says: writes its files, starts its servers, runs its code."""

import ast
import asyncio
import inspect
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from io import StringIO
from itertools import takewhile
from pathlib import Path

from typer.main import get_command
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from openenv.cli.__main__ import app
from tests.docs.blocks import ROOT, Block, blocks, commands

ADDRESS = "http://localhost:8000"
READY = re.compile(r"serving \S+ on (http://\S+)")
EXPECTED = re.compile(r"^\s*print\(.*\)\s+# (?P<text>.+)$", re.MULTILINE)
ASSIGNS = re.compile(r"[A-Z_]+=")
COMMAND_LIMIT_S = 60
SPACE = "\n\n"
"""What sets a piece of a file off from that before it."""
ELSEWHERE = ("build", "fork", "push", "web")


class Reader:
    """Reads one page in an empty folder, beside a copy of the repository's environments.

    `openenv serve` is started when the first block needs it, on a free port, in the place of the
    server before it; in the page's code that port stands where the page says 8000.
    """

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self._folder = folder
        self._module = types.ModuleType("page")
        self._printed = ""
        self._wanted: tuple[list[str], dict[str, str], str] | None = None
        self._url = ADDRESS
        self._server = ExitStack()
        (folder / "envs").symlink_to(ROOT / "envs")

    def read(self) -> None:
        """Does all that the page says, from top to bottom."""
        sys.modules["page"] = self._module  # where pickle finds what a page defines
        with self._server:
            for block in blocks(self.page):
                self._read(block)

    def _read(self, block: Block) -> None:
        match block.order.split():
            case ["file" | "more" | "needs", *_]:
                self._file(block)
            case ["output"]:
                assert like(block.text.strip(), self._printed.strip()), self._printed
            case ["frames", *_]:
                self._frames(block)
            case _ if block.language == "python":
                self._python(block)
            case _ if block.language == "console":
                for command, output in commands(block):
                    self._command(command, output)

    def _file(self, block: Block) -> None:
        """Writes a file, goes on with one, or takes one that another page shows."""
        order, *page, name = block.order.split()
        path = self._folder / name
        text = shown_file(self.page.with_name(page[0]), name) if page else block.text
        before = [path.read_text()] if order == "more" else []
        path.write_text(SPACE.join([*before, self._addressed(text)]))

    def _python(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + self._addressed(block.text)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, str(self.page), "exec", flags=flags, dont_inherit=True)
        if block.order == "compile":
            return
        printed = StringIO()
        with redirect_stdout(printed):
            if code.co_flags & inspect.CO_COROUTINE:
                asyncio.run(types.FunctionType(code, vars(self._module))())
            else:
                exec(code, vars(self._module))
        self._printed = printed.getvalue()
        expected = [match["text"].strip('"') for match in EXPECTED.finditer(block.text)]
        lines = iter(self._printed.splitlines())
        missing = [text for text in expected if text not in lines]
        assert not missing, f"{self.page.name}:{block.line} printed {self._printed!r}"

    def _frames(self, block: Block) -> None:
        address, *names = block.order.removeprefix("frames ").split()
        subprotocols = [Subprotocol(name) for name in names]
        url = self._addressed(address.replace("ws:", "http:")).replace("http:", "ws:")
        with connect(url, proxy=None, subprotocols=subprotocols or None) as socket:
            for line in block.text.splitlines():
                if line.startswith("→ "):
                    socket.send(line.removeprefix("→ "))
                else:
                    answer = socket.recv(COMMAND_LIMIT_S)
                    assert like(line.removeprefix("← "), str(answer)), answer

    def _command(self, command: str, output: str) -> None:
        words = shlex.split(command)
        settings = dict(word.split("=", 1) for word in takewhile(ASSIGNS.match, words))
        match words[len(settings) :]:
            case ["openenv", name, *arguments]:
                self._openenv(name, arguments, settings, output)
            case ["cd", folder]:
                self._folder /= folder
            case ["python", name]:
                self._run([sys.executable, name], output)
            case ["curl", *_] if shutil.which("curl"):
                self._run(shlex.split(self._addressed(command)), output)
            case ["pytest", *arguments]:
                self._run([sys.executable, "-m", "pytest", *arguments], output)
            case ["make", target]:
                assert re.search(f"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
            case [("curl" | "pip" | "docker" | "uvicorn"), *_]:
                pass
            case _:
                raise AssertionError(f"{self.page.name} says {command!r}; who runs that?")

    def _openenv(
        self, name: str, arguments: list[str], settings: dict[str, str], output: str
    ) -> None:
        """Runs a command; one that changes something elsewhere, or runs on, is only parsed."""
        if name == "serve":
            _parse(name, arguments)
            self._wanted = arguments, settings, output.partition(" on ")[0]
        elif name in ELSEWHERE and "--dry-run" not in arguments:
            _parse(name, arguments)
        else:
            addressed = [self._addressed(argument) for argument in (name, *arguments)]
            self._run([sys.executable, "-m", "openenv.cli", *addressed], output)

    def _run(self, command: list[str], output: str) -> None:
        run = subprocess.run(
            command,
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert like(output, run.stdout.strip()), run.stdout

    def _addressed(self, text: str) -> str:
        """A text with the address of the server that the page has started last."""
        if ADDRESS in text and self._wanted is not None:
            self._server.close()
            arguments, settings, greeting = self._wanted
            self._url, said = self._server.enter_context(served(arguments, settings, self._folder))
            assert said.startswith(greeting)
            self._wanted = None
        return text.replace(ADDRESS, self._url)


def shown_file(page: Path, name: str) -> str:
    """What a page shows, piece by piece, as the content of a file of that name."""
    orders = f"file {name}", f"more {name}"
    return SPACE.join(block.text for block in blocks(page) if block.order in orders)


def _parse(name: str, arguments: list[str]) -> None:
    get_command(app).commands[name].make_context(name, list(arguments))  # type: ignore[attr-defined]


def like(shown: str, said: str) -> bool:
    """Whether a text is what a page shows.

    `…` is anything in a line, or any lines if it is one by itself; nothing is whatever comes.
    """
    return not shown or re.fullmatch("\n".join(map(_line, shown.split("\n"))), said) is not None


def _line(shown: str) -> str:
    return "(?s:.*)" if shown == "…" else ".*".join(map(re.escape, shown.split("…")))


@contextmanager
def served(
    arguments: list[str], settings: dict[str, str], folder: Path
) -> Iterator[tuple[str, str]]:
    """The address and the greeting of a server, started as the page says, but on a free port."""
    command = [sys.executable, "-m", "openenv.cli", "serve", *arguments, "--port", "0"]
    environ = {**os.environ, **settings}
    with subprocess.Popen(
        command, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            lines = []
            for line in process.stderr:
                lines.append(line)
                if ready := READY.search(line):
                    yield ready[1], line
                    break
            else:
                raise AssertionError("the server did not start:\n" + "".join(lines))
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()
    assert process.returncode == 0
