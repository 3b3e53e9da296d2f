"""NLTK's words, which some games need: fetched where the server says so, else left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openenv import needs
from textarena_env.server.options import TextArenaOptions

LISTS = ("words", "averaged_perceptron_tagger_eng", "wordnet", "brown", "stopwords")


def fetch() -> None:
    """Downloads the lists that are not here yet.

    Raises:
        MissingPackage: NLTK is not installed.
    """
    nltk = _nltk()
    for name in LISTS:
        nltk.downloader.download(name, quiet=True)


@contextmanager
def left_alone() -> Iterator[None]:
    """Lets nothing in its block download words; games try to, as soon as they are imported."""
    nltk = _nltk()
    download = nltk.download
    nltk.download = lambda *_, **__: False
    try:
        yield
    finally:
        nltk.download = download


def missing(error: Exception) -> bool:
    """Whether a game failed since words are missing: NLTK raises what keys and indices inherit."""
    return type(error) is LookupError


def advice(options: TextArenaOptions) -> str:
    """What to do about words that are missing."""
    variable = TextArenaOptions.variable("download_nltk")
    if options.download_nltk:
        return f"NLTK's words could not be fetched, as {variable}=1 says; is there a network?"
    return f"it needs NLTK's words; start the server with {variable}=1, which fetches them"


def _nltk() -> Any:
    with needs("openenv-textarena-env[server]"):
        import nltk  # type: ignore[import-not-found, import-untyped, unused-ignore]
    return nltk
