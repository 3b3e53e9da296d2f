"""One Space on its way to the Hub: what changes, and what exists when it fails half-way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from openenv.client import spaces
from openenv.project.errors import ProjectError
from openenv.project.hub import Commit, Hub, Space, SpaceSettings
from openenv.project.staging import StagedFile, Staging

_KEPT_BY_THE_HUB = ".gitattributes"

Fate = Literal["add", "change", "same", "delete"]


@dataclass(frozen=True)
class Change:
    """What a push does to one file of a Space; its size is of what is sent, in bytes."""

    path: str
    fate: Fate
    size: int = 0


class Deployment:
    """The steps that publish an environment as one Space.

    Args:
        hub: where.
        repo_id: the Space, with its namespace.
        staging: the files that it shall have.
        settings: what else it is given.
        delete: globs of its files that go, unless `staging` has them.
        create_pr: open a pull request on the Space instead of changing it.
    """

    def __init__(
        self,
        hub: Hub,
        repo_id: str,
        staging: Staging,
        settings: SpaceSettings,
        *,
        delete: Sequence[str] = (),
        create_pr: bool = False,
    ) -> None:
        self.repo_id = repo_id
        self._hub = hub
        self._staging = staging
        self._settings = settings
        self._delete = delete
        self._create_pr = create_pr
        self._space: Space | None = None
        self._created = False
        self._commit: Commit | None = None

    def look(self) -> None:
        """Finds out what is there.

        Raises:
            ProjectError: the Hub refuses, the Space is public though a private one is wanted, or
                there is none to open a pull request on.
        """
        self._space = self._hub.space(self.repo_id)
        if self._space is None:
            if self._create_pr:
                raise ProjectError(
                    f"there is no Space {self.repo_id} to open a pull request on; check "
                    "--repo-id, or leave out --create-pr to make it"
                )
        elif self._settings.private and not self._space.private:
            raise ProjectError(
                f"the Space {self.repo_id} exists and is public, and a push cannot change that; "
                f"make it private at {self.page}/settings, or leave out --private"
            )

    def plan(self) -> dict[str, Any]:
        """What would happen, as JSON takes it."""
        return {
            "name": self.repo_id,
            "exists": self._space is not None,
            "files": [
                asdict(change) for change in changes(self._staging, self._there, self._delete)
            ],
        }

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """What is left to do after `look`, each with its title, in order."""
        if self._space is None:
            yield f"Creating the Space {self.repo_id}", self._create
        plan = self._changes()
        size = human_size(sum(change.size for change in plan))
        if plan:
            yield f"Uploading to {self.repo_id} (changes: {len(plan)}, {size})", self._upload
        given = self._settings
        anything = given.variables or given.secrets or given.hardware
        if anything and not self._created and not self._create_pr:
            yield f"Setting what {self.repo_id} runs with", self._configure

    def left_behind(self) -> str | None:
        """What exists after a failure although it is not finished, and how to go on."""
        if self._created and self._commit is None:
            return (
                f"The Space {self.page} exists now, without files. Run the same command again to "
                f"go on, or delete it at {self.page}/settings."
            )
        if self._commit is not None:
            return (
                f"The files are on {self.page}, but not everything else is set. Run the same "
                "command again to go on."
            )
        return None

    @property
    def page(self) -> str:
        """The Space's page."""
        return f"{self._hub.endpoint}/spaces/{self.repo_id}"

    def result(self) -> dict[str, Any]:
        """What came of it, as JSON takes it."""
        return {
            "repo_id": self.repo_id,
            "url": self.page,
            "app_url": spaces.Space.named(self.repo_id).url,
            "created": self._created,
            "commit_url": self._commit.url if self._commit else None,
            "pull_request": self._commit.pull_request if self._commit else None,
        }

    def _create(self) -> None:
        self._hub.create_space(self.repo_id, self._settings)
        self._created = True

    def _upload(self) -> None:
        fates = {change.path: change.fate for change in self._changes()}
        sent = [file for file in self._staging.files if file.path in fates]
        gone = [path for path, fate in fates.items() if fate == "delete"]
        self._commit = self._hub.commit(self.repo_id, sent, gone, create_pr=self._create_pr)

    def _changes(self) -> list[Change]:
        plan = changes(self._staging, self._there, self._delete)
        return [change for change in plan if change.fate != "same"]

    def _configure(self) -> None:
        self._hub.configure(self.repo_id, self._settings)

    @property
    def _there(self) -> Mapping[str, str]:
        return self._space.files if self._space else {}


def changes(staging: Staging, there: Mapping[str, str], delete: Sequence[str] = ()) -> list[Change]:
    """What happens to each file, in order of the paths.

    Args:
        staging: the files to publish.
        there: the ids of the files that the Space has.
        delete: globs of those that go, unless `staging` has them.
    """
    sent = [Change(f.path, _fate(f, there.get(f.path)), f.size) for f in staging.files]
    own = {file.path for file in staging.files} | {_KEPT_BY_THE_HUB}
    gone = [
        Change(path, "delete")
        for path in there
        if path not in own and any(fnmatchcase(path, glob) for glob in delete)
    ]
    return sorted([*sent, *gone], key=lambda change: change.path)


def human_size(count: int) -> str:
    """A number of bytes as people read it."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _fate(file: StagedFile, there: str | None) -> Fate:
    if there is None:
        return "add"
    return "same" if there in _ids(file) else "change"


def _ids(file: StagedFile) -> tuple[str, str]:
    """The ids that the Hub has for a content: Git's, and the SHA-256 that large files have."""
    git = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    plain = hashlib.sha256()
    for chunk in file.chunks():
        git.update(chunk)
        plain.update(chunk)
    return git.hexdigest(), plain.hexdigest()
