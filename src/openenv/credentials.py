"""What looks like a credential: by a file's name, or by what stands in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

_NAMES = (
    *(".env*", "*.env", "*.env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
    *("*.kdbx", "*.asc", "*.gpg", "*.ppk", "*.token", "*.tfstate", "*.tfvars", "*.ovpn"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("credential", "credentials", "credential.*", "credentials.*", "*[-_.]credentials.json"),
    *("secret", "secrets", "secret.*", "secrets.*", "client_secret*.json"),
    *("service_account*.json", "service-account*.json"),
    *(
        "token",
        "token.json",
        "token.txt",
        "hf_token*",
        "api_key",
        "api_key.*",
        "apikey",
        "apikey.*",
    ),
    *("netrc", "_netrc", ".netrc", "pypirc", ".pypirc", ".npmrc", ".git-credentials"),
    *("kubeconfig", "kubeconfig.*", "htpasswd", ".htpasswd", "pgpass", ".pgpass"),
)
_NAMED = re.compile("|".join(map(translate, _NAMES)))
_PROSE_AND_PROGRAMS = (".py", ".pyi", ".js", ".ts", ".md", ".rst", ".html", ".css", ".pub")
_SHAPES = tuple(
    (kind, re.compile(shape))
    for kind, shape in (
        ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
        ("an API key (sk-…)", r"(?<![\w-])sk-(?=[A-Za-z_-]*[0-9])[\w-]{20,}"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("an AWS secret key", r"(?i)aws_secret_access_key\W{1,6}[\w/+=]{40}(?![\w/+=])"),
        ("a GitHub token", r"\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_\w{50,})"),
        ("a GitLab token", r"\bglpat-[\w-]{20,}"),
        ("a Google API key", r"\bAIza[\w-]{35}(?![\w-])"),
        ("a Slack token", r"\bxox[abprs]-[\w-]{20,}"),
        ("a PyPI token", r"\bpypi-AgEI[\w-]{40,}"),
        ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    )
)
_PASSWORD = re.compile(
    r"//[^/\s:@]*:[^/\s@]+@"  # a user and a password in an address
    r"|https?://[^/\s@]+@"  # an address of the web has no user without a reason
    r"|^(?!mailto:)[^/\s:@]+:[^/\s@]+@[\w.-]+(?::\d+)?$"  # a proxy without its scheme
    r"|(?:password|passwd|secret|api_?key|account_?key|access_?key|(?<![a-z_])(?:pwd|token))=[^\s;&]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Finding:
    """Something in a text that looks like a credential.

    Attributes:
        line: where it is, from 1.
        kind: what it looks like. What it is is never kept.
    """

    line: int
    kind: str


def is_secret_name(name: str) -> bool:
    """Whether a file of that name is one that people keep credentials in.

    Programs and prose are not, whatever they are called: a `token.py` holds code.
    """
    name = name.lower()
    return not name.endswith(_PROSE_AND_PROGRAMS) and _NAMED.match(name) is not None


def is_secret_folder(path: Path) -> bool:
    """Whether a folder is called like one of credentials, and is no Python package."""
    return is_secret_name(path.name) and not os.path.exists(path / "__init__.py")


def find_credentials(text: str) -> Iterator[Finding]:
    """The tokens and keys of well-known shapes in a text, kind by kind."""
    for kind, shape in _SHAPES:
        for found in shape.finditer(text):
            yield Finding(text.count("\n", 0, found.start()) + 1, kind)


def has_password(text: str) -> bool:
    """Whether a setting has a password in it: in an address, or as `password=…`.

    Examples in files have such, too; there that is no credential yet.
    """
    return _PASSWORD.search(text) is not None
