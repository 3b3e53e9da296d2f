"""The Hub as `push` and `fork` use it: each request bounded, each refusal in one line.

`huggingface_hub` speaks to it; it is loaded when a hub is first asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

from openenv.project.errors import ProjectError
from openenv.project.hub_errors import NotLoggedIn, explained, pause_asked_for
from openenv.project.staging import StagedFile

REQUEST_TIMEOUT_S = 120.0
_ATTEMPTS = 3
_LONGEST_PAUSE_S = 30.0
_SPACE = "space"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Space:
    """A Space that exists.

    Attributes:
        files: what is in it, by path: the Git id of a file's content, or the SHA-256 of a large
            file's.
    """

    repo_id: str
    private: bool
    files: Mapping[str, str]


@dataclass(frozen=True)
class SpaceSettings:
    """What a Space is given beside its files.

    Attributes:
        hardware: what it runs on; `None` is the Hub's default, or what it has.
        variables: public environment variables.
        secrets: environment variables that nobody can read again.
    """

    private: bool = False
    hardware: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def as_arguments(self) -> dict[str, Any]:
        """The same as `huggingface_hub` takes it when a Space is made."""
        return {
            "private": self.private or None,
            "space_hardware": self.hardware,
            "space_variables": _pairs(self.variables) or None,
            "space_secrets": _pairs(self.secrets) or None,
        }


@dataclass(frozen=True)
class Commit:
    """What a push left on the Hub.

    Attributes:
        url: the commit's page.
        pull_request: the page of the pull request, if it went into one.
    """

    url: str
    pull_request: str | None


class Hub:
    """A Hub, with the account that its requests are made for.

    Args:
        endpoint: its address; by default `HF_ENDPOINT`, or https://huggingface.co.
        token: an access token; by default `HF_TOKEN`, or the one that `hf auth login` kept.
        pause_s: how long to wait before a request is repeated, doubled each time.
        told: is told, in a line, when a request will be repeated.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        token: str | None = None,
        *,
        pause_s: float = 1.0,
        told: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._library = _library()
        self._api = self._library.HfApi(endpoint=endpoint, token=token, library_name="openenv")
        self._pause_s = pause_s
        self._told = told
        self.endpoint: str = self._api.endpoint

    @property
    def has_token(self) -> bool:
        """Whether there is a token, good or not."""
        return bool(self._api.token or self._library.get_token())

    def log_in(self) -> None:
        """Asks for a token on the terminal, and keeps it where `hf auth login` does.

        Raises:
            NotLoggedIn: none was given, or the Hub does not know it.
        """
        try:
            self._library.interpreter_login()
        except Exception as error:
            raise NotLoggedIn(
                self.endpoint, " ".join(str(error).split())[:300].rstrip(".")
            ) from error
        if not self.has_token:
            raise NotLoggedIn(self.endpoint)

    def account(self) -> str:
        """The name of the account that the token belongs to.

        Raises:
            NotLoggedIn: there is no token, or the Hub does not know it.
            ProjectError: the Hub does not answer as it should.
        """
        if not self.has_token:
            raise NotLoggedIn(self.endpoint)
        return self._ask("log in", lambda: str(self._api.whoami()["name"]))

    def exists(self, repo_id: str) -> bool:
        """Whether there is a Space of that name that this account can see."""
        return self._found(repo_id) is not None

    def space(self, repo_id: str) -> Space | None:
        """A Space, or `None` if there is none that this account can see."""
        found = self._found(repo_id)
        if found is None:
            return None
        tree = partial(
            self._api.list_repo_tree, repo_id, repo_type=_SPACE, recursive=True, expand=False
        )
        listed = self._ask(f"list the files of {repo_id}", lambda: list(tree()))
        files = {
            entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
            for entry in listed
            if hasattr(entry, "blob_id")
        }
        return Space(repo_id, bool(found.private), files)

    def create_space(self, repo_id: str, settings: SpaceSettings) -> None:
        """Makes an empty Docker Space with its settings, in one request."""
        create = partial(
            self._api.create_repo,
            repo_id,
            repo_type=_SPACE,
            space_sdk="docker",
            **settings.as_arguments(),
        )
        self._ask(f"create the Space {repo_id}", create)

    def commit(
        self,
        repo_id: str,
        files: Sequence[StagedFile],
        deleted: Iterable[str],
        *,
        create_pr: bool = False,
    ) -> Commit:
        """Uploads files and deletes others, in one commit: all of it happens, or nothing."""
        deleted = sorted(deleted)

        def send() -> Any:
            adds = [self._library.CommitOperationAdd(file.path, file.content) for file in files]
            gone = [self._library.CommitOperationDelete(path, is_folder=False) for path in deleted]
            return self._api.create_commit(
                repo_id,
                [*adds, *gone],
                commit_message="Publish with openenv push",
                repo_type=_SPACE,
                create_pr=create_pr,
            )

        # A pull request whose answer was lost would be opened a second time.
        made = self._ask(f"upload to {repo_id}", send, attempts=1 if create_pr else _ATTEMPTS)
        return Commit(str(made.commit_url), made.pr_url)

    def configure(self, repo_id: str, settings: SpaceSettings) -> None:
        """Gives an existing Space variables, secrets and hardware, those that are new to it."""
        if settings.variables:
            read = partial(self._api.get_space_variables, repo_id)
            known = self._ask(f"read the variables of {repo_id}", read)
            for name, value in settings.variables.items():
                if name not in known or known[name].value != value:
                    write = partial(self._api.add_space_variable, repo_id, name, value)
                    self._ask(f"set the variable {name} of {repo_id}", write)
        for name, value in settings.secrets.items():
            write = partial(self._api.add_space_secret, repo_id, name, value)
            self._ask(f"set the secret {name} of {repo_id}", write)
        if settings.hardware is not None:
            request = partial(self._api.request_space_hardware, repo_id, settings.hardware)
            self._ask(f"request {settings.hardware} for {repo_id}", request)

    def duplicate(self, source: str, repo_id: str, settings: SpaceSettings) -> None:
        """Makes a copy of a Space, history and all, with settings of its own."""
        copy = partial(
            self._api.duplicate_repo,
            source,
            repo_id,
            repo_type=_SPACE,
            **settings.as_arguments(),
        )
        self._ask(f"copy {source} to {repo_id}", copy)

    def _found(self, repo_id: str) -> Any:
        def look() -> Any:
            try:
                return self._api.space_info(repo_id)
            except self._library.errors.RepositoryNotFoundError:
                return None

        return self._ask(f"look at {repo_id}", look)

    def _ask(self, what: str, call: Callable[[], _T], attempts: int = _ATTEMPTS) -> _T:
        """Performs a call; one that the Hub is too busy for, or that got lost, is repeated."""
        for attempt in range(1, attempts + 1):
            try:
                return call()
            except Exception as error:  # whatever the library and its transport raise
                pause = pause_asked_for(error, self._pause_s * 2 ** (attempt - 1))
                if pause is None or pause > _LONGEST_PAUSE_S or attempt == attempts:
                    raise explained(error, what, self.endpoint) from error
                self._told(f"the Hub did not answer to that, trying again in {pause:.0f} s")
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": name, "value": value} for name, value in values.items()]


@cache
def _library() -> Any:
    """`huggingface_hub`, with a bound on each of its requests and without progress bars.

    Raises:
        ProjectError: it is not installed, or too old.
    """
    try:
        import huggingface_hub.errors  # the package has it as an attribute only then
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise ProjectError(
            f"the Hub needs the huggingface_hub package ({error}); install it: "
            "pip install 'openenv-core[hub]'"
        ) from error
    if not hasattr(huggingface_hub.HfApi, "duplicate_repo"):
        raise ProjectError(
            f"huggingface_hub {huggingface_hub.__version__} is too old for this; update it: "
            "pip install -U 'openenv-core[hub]'"
        )
    client = type(huggingface_hub.get_session())
    bounded = partial(client, timeout=REQUEST_TIMEOUT_S, follow_redirects=True)
    huggingface_hub.set_client_factory(bounded)
    disable_progress_bars()
    return huggingface_hub
