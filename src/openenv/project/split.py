"""One source file cut in two: what the wire's types need, and the rest."""

from __future__ import annotations

import ast
import copy
import io
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from openenv.project.errors import ProjectError


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a file: a statement, or several on one line, and the comments above them.

    Attributes:
        text: the lines.
        nodes: the statements.
        defines: the names that they bind at the top level.
        uses: the names that they read, in annotations that are texts too.
    """

    text: str
    nodes: tuple[ast.stmt, ...]
    defines: frozenset[str]
    uses: frozenset[str]

    @property
    def is_import(self) -> bool:
        """Whether it does nothing but import, perhaps on a condition."""
        return all(_imports_alone(node) for node in self.nodes)

    @property
    def is_future(self) -> bool:
        """Whether it is `from __future__ import …`, which a file begins with."""
        node = self.nodes[0]
        return isinstance(node, ast.ImportFrom) and node.module == "__future__"


@dataclass(frozen=True)
class Halves:
    """A file's two halves.

    Attributes:
        models: the source of the first half, without a docstring; empty if there is nothing.
        rest: the source of the second, in which the author's docstring stays.
        shared: the names of the first half that the second needs.
    """

    models: str
    rest: str
    shared: tuple[str, ...]


def chunks(source: str) -> list[Chunk]:
    """A file's statements with their comments, in order; a docstring is the first.

    Raises:
        SyntaxError: it is no Python.
    """
    lines = _lines(source)
    found: list[Chunk] = []
    begin = 0
    for nodes in _by_line(ast.parse(source).body):
        end = max(node.end_lineno or node.lineno for node in nodes)
        found.append(_chunk("".join(lines[begin:end]), nodes))
        begin = end
    if found and begin < len(lines):
        last = found.pop()
        found.append(_chunk(last.text + "".join(lines[begin:]), last.nodes))
    return found


def halve(
    pieces: list[Chunk], roots: Collection[str], never: str, module: str, foreign: str = ""
) -> Halves:
    """Cuts a file.

    Args:
        pieces: the file's chunks.
        roots: the names of the types that go into the first half.
        never: a name that cannot go there: the environment's.
        module: the first half's module, which the second half imports from.
        foreign: imports that the first half has besides.

    Raises:
        ProjectError: the types need what cannot be taken from the rest.
    """
    docstring = [piece for piece in pieces[:1] if _is_docstring(piece)]
    body = pieces[len(docstring) :]
    first = _needed(body, roots)
    if never in _names(first):
        raise ProjectError(
            f"{' and '.join(sorted(roots))} need {never}, which needs them: they cannot be in two "
            f"files; take {never} out of what they refer to"
        )
    second = [piece for piece in body if not piece.is_import and piece not in first]
    shared = tuple(sorted(_names(first) & _uses(second)))
    line = f"from {module} import {', '.join(shared)}\n" if shared else ""
    idle = _names(piece for piece in body if _may_register(piece)) - _uses(body)
    rest = _assembled(body, second, _uses(second) | idle, line)
    return Halves(
        models=_assembled(body, first, _uses(first), foreign) if first else foreign,
        rest="".join(piece.text for piece in docstring) + rest,
        shared=shared,
    )


def _may_register(piece: Chunk) -> bool:
    """Whether a chunk imports a module that may do something when it is imported."""
    node = piece.nodes[0]
    ours = isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "openenv"
    return piece.is_import and not ours


def _names(pieces: Iterable[Chunk]) -> set[str]:
    return {name for piece in pieces for name in piece.defines}


def _uses(pieces: Iterable[Chunk]) -> set[str]:
    return {name for piece in pieces for name in piece.uses}


def _needed(body: list[Chunk], roots: Collection[str]) -> list[Chunk]:
    """The chunks that bind some names, all that these need, and what is only about them."""
    own = [piece for piece in body if not piece.is_import]
    local = _names(own)
    wanted, more = set[str](), set(roots)
    while wanted != more:
        wanted = more
        more = wanted | _uses(piece for piece in own if piece.defines & wanted) & local
    return [
        piece
        for piece in own
        if piece.defines & wanted
        or (not piece.defines and piece.uses & wanted and not (piece.uses & local) - wanted)
    ]


def _assembled(body: list[Chunk], kept: list[Chunk], uses: Collection[str], line: str = "") -> str:
    """The kept chunks with the imports that they use; a line of ours before the first of them."""
    conditions = _uses(piece for piece in body if piece.is_import and piece.defines & set(uses))
    uses = conditions.union(uses)
    parts: list[str] = []
    for piece in body:
        if piece.is_import:
            parts.append(piece.text if piece.is_future else _pruned(piece, uses))
        elif piece in kept:
            parts += [line, piece.text]
            line = ""
    return "".join(parts)


def _pruned(piece: Chunk, uses: Collection[str]) -> str:
    """An import without the names that nobody uses."""
    unused = piece.defines.difference(uses, "*")
    if not unused:
        return piece.text
    if unused == piece.defines:
        return ""
    if len(piece.nodes) > 1 or not isinstance(piece.nodes[0], ast.Import | ast.ImportFrom):
        return piece.text
    node = copy.deepcopy(piece.nodes[0])
    node.names = [alias for alias in node.names if _bound(alias) not in unused]
    height = (node.end_lineno or node.lineno) - node.lineno + 1
    above = "".join(_lines(piece.text)[:-height])
    return f"{above}{ast.unparse(node)}\n"


# ── statements ────────────────────────────────────────────────────────────────────────────────────


def _lines(text: str) -> list[str]:
    """The lines as Python counts them: a form feed ends none."""
    return io.StringIO(text).readlines()


def _by_line(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.stmt, ...]]:
    """The statements, those together that share a line."""
    group: list[ast.stmt] = []
    for node in body:
        if group and node.lineno > (group[-1].end_lineno or 0):
            yield tuple(group)
            group = []
        group.append(node)
    if group:
        yield tuple(group)


def _chunk(text: str, nodes: tuple[ast.stmt, ...]) -> Chunk:
    defines = frozenset(name for node in nodes for name in _defined(node))
    uses = frozenset(name for node in nodes for name in _used(node))
    return Chunk(text, nodes, defines, uses)


def _is_docstring(piece: Chunk) -> bool:
    match piece.nodes[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _imports_alone(node: ast.stmt) -> bool:
    """An import, or a condition or an attempt that begins with one and has nothing big in it."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.If() | ast.Try():
            handled = [inner for each in getattr(node, "handlers", ()) for inner in each.body]
            inner = [*node.body, *node.orelse, *handled]
            small = (ast.Import, ast.ImportFrom, ast.Assign, ast.Pass)
            return _imports_alone(node.body[0]) and all(isinstance(one, small) for one in inner)
    return False


def _defined(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds where it stands; not those inside a function or a class."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            yield from (_bound(alias) for alias in node.names)
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Lambda():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _defined(child)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _used(node: ast.AST) -> Iterator[str]:
    """The names that a statement reads, in annotations that are texts too."""
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()):
                yield name
            case ast.arg(annotation=ast.expr() as noted) | ast.AnnAssign(annotation=noted):
                yield from _in_texts(noted)
            case (
                ast.FunctionDef(returns=ast.expr() as noted)
                | ast.AsyncFunctionDef(returns=ast.expr() as noted)
            ):
                yield from _in_texts(noted)
            case ast.Subscript(slice=noted):
                yield from _in_texts(noted)


def _in_texts(annotation: ast.expr) -> Iterator[str]:
    for inner in ast.walk(annotation):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            with suppress(SyntaxError, ValueError):
                tree = ast.parse(inner.value.strip(), mode="eval")
                yield from (name.id for name in ast.walk(tree) if isinstance(name, ast.Name))
