"""The shape of the code, by machine: short files, short functions, bare façade, light client."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("envs/**/*.py")])
FACADE = sorted(ROOT.glob("src/openenv/core/**/*.py"))

PUBLISHED = {"src/openenv/server/app.py", "src/openenv/server/http_server.py"}
"""Files of signatures that are as wide as existing packages call them, and as commands' are."""
LONGEST_FILE = 400
LONGEST_FUNCTION = 40
HEAVIEST_CLIENT = 400
SERVER_PACKAGES = {
    "fastapi",
    "fastmcp",
    "gradio",
    "huggingface_hub",
    "numpy",
    "openai",
    "starlette",
    "typer",
    "uvicorn",
}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    is_table = path.parent.name == "commands" or _name(path) in PUBLISHED
    assert list(_long_functions(ast.parse(text), without_signature=is_table)) == []


def _long_functions(tree: ast.Module, *, without_signature: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            signature = node.body[0].lineno - node.lineno if without_signature else 0
            lines = _height(node) - _docstring_height(node) - signature
            if lines > LONGEST_FUNCTION:
                yield f"{node.name} has {lines} lines"


def _docstring_height(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return 0 if ast.get_docstring(node) is None else _height(node.body[0])


def _height(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


@pytest.mark.parametrize("path", FACADE, ids=_name)
def test_the_facade_holds_nothing_but_names(path: Path) -> None:
    strangers = [ast.unparse(node) for node in ast.parse(path.read_text()).body if not _bare(node)]
    assert strangers == []


def _bare(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import, `__all__`, or a lazy `__getattr__`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
            return all(_bare(inner) for inner in node.body)
        case ast.Assign(targets=[target], value=value):
            names = {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}
            return names == {"__all__"} or ("__getattr__" in names and _is_lazy(value))
    return False


def _is_lazy(value: ast.expr) -> bool:
    """Whether the expression is a call of the helper of `openenv._lazy`."""
    return isinstance(value, ast.Call) and "lazy" in ast.unparse(value.func)


def test_a_client_loads_little() -> None:
    code = "from openenv.core import EnvClient; import sys; print(*sys.modules, sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=15
    )
    modules = set(run.stdout.split())
    assert SERVER_PACKAGES & {name.partition(".")[0] for name in modules} == set()
    assert len(modules) < HEAVIEST_CLIENT
