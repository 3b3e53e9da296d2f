"""What `openenv validate TARGET` means: files, an image, or a running server."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from openenv.catalog.installed import find
from openenv.catalog.manifest import MANIFEST
from openenv.client.endpoint import normalised
from openenv.client.spaces import Space
from openenv.project.errors import UsageProblem
from openenv.protocol.errors import ConfigurationError

Kind = Literal["package", "source", "image", "url"]
_PAGE = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/spaces/", re.IGNORECASE)
_URL = re.compile(r"https?://", re.IGNORECASE)
_IMAGE = re.compile(
    r"(?:[a-z0-9][\w.-]*(?::\d+)?/)*[a-z0-9][\w.-]*(?::[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})",
    re.ASCII,
)
_FILE = re.compile(r"(?P<path>.+\.py)(?::[\w.]+)?")
_SOURCE = re.compile(r"gym:.+|.+\.py(?::[\w.]+)?|[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
"""What `openenv serve` takes, besides a directory."""
_IGNORED = frozenset({"__pycache__", "node_modules", "outputs", "build", "dist"})
_FORMS = (
    "give a package's directory or name, FILE.py, module:Class, gym:Id-v0, image:NAME or the URL "
    "of a server"
)


@dataclass(frozen=True)
class Target:
    """What is to be validated.

    Attributes:
        name: as it was named; of a server, its address.
        kind: a package's directory, another source that `openenv serve` takes, an image, or a URL.
        place: what it is started or reached by.
    """

    name: str
    kind: Kind
    place: str

    @property
    def directory(self) -> Path | None:
        """A package's files."""
        return Path(self.place) if self.kind == "package" else None

    @property
    def signature(self) -> str:
        """What it was recognised by."""
        return MANIFEST if self.kind == "package" else self.kind

    @classmethod
    def named(cls, text: str) -> Target:
        """The target that a text names.

        Raises:
            UsageProblem: it names nothing that can be validated.
            ConfigurationError: it is an address that is none.
        """
        if _PAGE.match(text) or _URL.match(text):
            return cls.at_url(text)
        if text.startswith("image:"):
            return cls.of_image(text.removeprefix("image:"))
        path = Path(text)
        if path.is_dir():
            return cls._of_directory(text, path)
        if (file := _FILE.fullmatch(text)) and not Path(file["path"]).is_file():
            raise UsageProblem(f"there is no file {file['path']!r}; {_FORMS}")
        if path.is_file() or _SOURCE.fullmatch(text):
            return cls(text, "source", text)
        return cls.of_image(text) if _IMAGE.fullmatch(text) else cls._installed(text)

    @classmethod
    def at_url(cls, text: str) -> Target:
        """A running server; the page of a Space stands for the server behind it.

        Raises:
            ConfigurationError: it is no address.
            UsageProblem: it has credentials in it.
        """
        place = Space.named(text).url if _PAGE.match(text) else normalised(text)
        if "@" in urlsplit(place).netloc:
            raise UsageProblem(
                "the address has a password in it, which reports would show; leave it out, and set "
                "OPENENV_CLIENT_TOKEN if the server asks for a token"
            )
        return cls(place, "url", place)

    @classmethod
    def of_image(cls, name: str) -> Target:
        """An image.

        Raises:
            UsageProblem: it has no name.
        """
        if not name or name.startswith("-"):
            raise UsageProblem(f"an image has a name such as openenv-echo:latest, got {name!r}")
        return cls(name, "image", name)

    @classmethod
    def _installed(cls, text: str) -> Target:
        try:
            directory = find(text).directory
        except ConfigurationError as error:
            raise UsageProblem(
                f"there is no package directory {text!r}, nor is a package of that name "
                f"installed; {_FORMS}"
            ) from error
        return cls._of_directory(text, directory or Path(text))

    @classmethod
    def _of_directory(cls, text: str, path: Path) -> Target:
        if not (path / MANIFEST).is_file():
            raise UsageProblem(
                f"{path} is no environment's package: it holds no {MANIFEST}; {_FORMS}"
            )
        return cls(text, "package", str(path.resolve()))

    def digest(self) -> str | None:
        """The SHA-256 of a package's files, whatever order the disk has them in.

        Raises:
            ConfigurationError: one of them cannot be read.
        """
        if self.directory is None:
            return None
        digest = hashlib.sha256()
        for path in sorted(self.directory.rglob("*")):
            inside = path.relative_to(self.directory)
            if _is_source(inside) and path.is_file():
                digest.update(os.fsencode(f"{inside.as_posix()}\0"))  # a name may be no text
                digest.update(_digest(path))
        return digest.hexdigest()


def _digest(path: Path) -> bytes:
    """A file's own SHA-256; it may be larger than the memory."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    return digest.digest()


def _is_source(path: Path) -> bool:
    hidden = any(part.startswith(".") and part != ".dockerignore" for part in path.parts)
    made = any(part in _IGNORED or part.endswith(".egg-info") for part in path.parts)
    return not (hidden or made)
