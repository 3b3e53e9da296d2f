"""In which ways a package can be started, judged by its files alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from openenv.catalog.manifest import MANIFEST, ManifestError, Pyproject, read_pyproject
from openenv.protocol.errors import ConfigurationError

_OURS = re.compile(r"openenv(?:[-_.]core)?(?![\w-])", re.IGNORECASE)
_MAIN = re.compile(r"^def main\(|^async def main\(", re.MULTILINE)
_GUARDED = re.compile(
    r"^if __name__ == [\"']__main__[\"']:(?:[^\n]*|(?:\n[ \t]+[^\n]*|\n)*?)\bmain\(", re.MULTILINE
)
DOCKERFILES = ("server/Dockerfile", "Dockerfile")


def validate_multi_mode_deployment(path: str | Path) -> tuple[bool, list[str]]:
    """Whether a package can be started in every way, and what stands in the way if not.

    Args:
        path: the package's directory.
    """
    issues = [*_packaging(Path(path)), *_application(Path(path) / "server" / "app.py")]
    return not issues, issues


def get_deployment_modes(path: str | Path) -> dict[str, bool]:
    """Which ways of starting a package its files are there for.

    `docker` is an image, `openenv_serve` the command, `uv_run` is `uv run server` (which locks the
    dependencies if that was not done), `python_module` is `python -m server.app`.
    """
    directory = Path(path)
    application = not list(_application(directory / "server" / "app.py"))
    blocking = [issue for issue in _packaging(directory) if not issue.startswith("uv.lock")]
    return {
        "docker": any((directory / name).is_file() for name in DOCKERFILES),
        "openenv_serve": (directory / MANIFEST).is_file(),
        "uv_run": application and not blocking,
        "python_module": application,
    }


def _packaging(directory: Path) -> Iterator[str]:
    try:
        pyproject = read_pyproject(directory)
    except ManifestError as error:
        yield str(error)
        return
    if not (directory / "uv.lock").is_file():
        yield "uv.lock is missing; uv lock makes it"
    script = pyproject.scripts.get("server")
    if script is None:
        yield 'pyproject.toml: no script server; add server = "my_env.server.app:main"'
    elif ":main" not in script:
        yield f"pyproject.toml: the script server is {script!r}; it takes module:main"
    if not (_depends_on_us(pyproject) or _is_installed_by_docker(directory)):
        yield "pyproject.toml: no dependency on openenv-core; add it to [project] dependencies"


def _depends_on_us(pyproject: Pyproject) -> bool:
    return any(_OURS.match(dependency.strip()) for dependency in pyproject.dependencies)


def _is_installed_by_docker(directory: Path) -> bool:
    texts = (directory / name for name in DOCKERFILES)
    return any(
        _OURS.search(line)
        for path in texts
        if path.is_file()
        for line in _text(path).splitlines()
        if "install" in line
    )


def _application(path: Path) -> Iterator[str]:
    if not path.is_file():
        yield "server/app.py is missing; it has the app, and a main() that serves it"
        return
    text = _text(path)
    if not _MAIN.search(text):
        yield "server/app.py has no function main(); the script server calls it"
    elif not _GUARDED.search(text):
        yield 'server/app.py does not call main() under if __name__ == "__main__":'


def _text(path: Path) -> str:
    """A file's text.

    Raises:
        ConfigurationError: it cannot be read, or is no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
