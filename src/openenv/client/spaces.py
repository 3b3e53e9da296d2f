"""Spaces: environments on the Hugging Face Hub, by their ids."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openenv.client.endpoint import normalised
from openenv.protocol.errors import ConfigurationError

_HUB = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?:spaces/)?", re.IGNORECASE)
_SPACE = re.compile(
    r"(?P<owner>\w[\w.-]*)/(?P<name>\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII
)


@dataclass(frozen=True)
class Space:
    """A Space of the Hub.

    Attributes:
        owner: a user or an organisation.
        name: the Space's own name.
        revision: a commit, tag or branch; `None` is the newest.
    """

    owner: str
    name: str
    revision: str | None = None

    @classmethod
    def named(cls, text: str) -> Space:
        """A Space by its id or its page: `owner/name`, `owner/name@revision`, `https://…`.

        Raises:
            ConfigurationError: it is neither.
        """
        found = _SPACE.fullmatch(_HUB.sub("", text.strip(), count=1).rstrip("/"))
        if found is None:
            raise ConfigurationError(
                f"a Space is named owner/name or owner/name@revision, got {text!r}"
            )
        return cls(found["owner"], found["name"], found["revision"])

    @property
    def id(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"

    @property
    def url(self) -> str:
        """Where it serves when it runs."""
        return f"https://{hf_space_subdomain(self.id)}.hf.space"

    @property
    def source(self) -> str:
        """Its repository at the revision, as package installers take it."""
        at = f"@{self.revision}" if self.revision else ""
        return f"git+https://huggingface.co/spaces/{self.id}{at}"

    def image(self, tag: str = "latest") -> str:
        """Its container image."""
        return f"registry.hf.space/{hf_space_subdomain(self.id)}:{tag}"


def served_at(url: str) -> str:
    """Where a server is, by its address or by the page of its Space.

    Raises:
        ConfigurationError: it is neither.
    """
    page = "huggingface.co/" in url or "hf.co/" in url
    return Space.named(url).url if page else normalised(url)


def hf_space_subdomain(repo_id: str) -> str:
    """The subdomain of a Space, `owner/name`: lower case, `-` for all but letters and digits."""
    return re.sub(r"[^a-z0-9]", "-", repo_id.lower())
