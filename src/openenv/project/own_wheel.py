"""This very version of OpenEnv as a wheel, made of the files that are installed.

An image that is built of a working copy must not get another OpenEnv from a package index. Making
the wheel needs neither the sources' build tools nor a network, and gives the same bytes each time.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import openenv
from openenv.project.errors import ProjectError

DISTRIBUTION = "openenv-core"
_PACKAGES = ("envs", "openenv", "openenv_core")
_WHEEL = "Wheel-Version: 1.0\nGenerator: openenv\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = (".pyc", ".pyo")


def write_own_wheel(folder: Path) -> Path:
    """Writes the wheel into a folder, and gives its path.

    Raises:
        ProjectError: OpenEnv is not installed, so nothing tells what it depends on.
    """
    try:
        installed = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise ProjectError(
            f"this OpenEnv is not installed as {DISTRIBUTION}; install it (pip install -e .), or "
            "take the published one with --openenv index"
        ) from None
    stem = f"{DISTRIBUTION.replace('-', '_')}-{installed.version}"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        record = []
        for name, content in (*_modules(), *_description(installed, f"{stem}.dist-info")):
            _add(wheel, name, content)
            record.append(f"{name},sha256={_digest(content)},{len(content)}")
        name = f"{stem}.dist-info/RECORD"
        _add(wheel, name, "\n".join([*record, f"{name},,", ""]).encode())
    return path


def _modules() -> Iterator[tuple[str, bytes]]:
    root = Path(openenv.__file__).parent.parent
    for package in _PACKAGES:
        for file in sorted((root / package).rglob("*")):
            if file.is_file() and file.suffix not in _LEFT_OUT:
                yield file.relative_to(root).as_posix(), file.read_bytes()


def _description(installed: Distribution, folder: str) -> Iterator[tuple[str, bytes]]:
    yield f"{folder}/METADATA", (installed.read_text("METADATA") or "").encode()
    yield f"{folder}/WHEEL", _WHEEL.encode()
    yield f"{folder}/entry_points.txt", (installed.read_text("entry_points.txt") or "").encode()


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
