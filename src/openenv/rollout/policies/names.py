"""Policies by name, as commands take them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Literal, cast

from openenv import settings
from openenv.protocol.errors import ConfigurationError
from openenv.rollout.policies.policy import Policy, RandomPolicy, as_policy

FORMS = (
    "give random, scripted:MODULE:NAME (a function of an observation, or a Policy), openai:MODEL, "
    "anthropic:MODEL, or openai:MODEL@URL for any server that speaks so"
)


def policy_named(text: str) -> Policy:
    """The policy that a text names.

    `random`; `scripted:MODULE:NAME`, with the working directory among the places of modules;
    `openai:MODEL` and `anthropic:MODEL` at their vendors, with the key in `OPENAI_API_KEY` or
    `ANTHROPIC_API_KEY`; `openai:MODEL@URL` at a server of one's own, with the key in
    `OPENENV_LLM_API_KEY`, if it wants one.

    Raises:
        ConfigurationError: it names none.
        MissingPackage: the vendor's SDK is not installed.
    """
    kind, _, rest = text.partition(":")
    if kind == "random" and not rest:
        return RandomPolicy()
    if kind == "scripted" and rest:
        return _scripted(rest)
    if kind in ("openai", "anthropic") and rest:
        return _model(cast("Literal['openai', 'anthropic']", kind), rest)
    raise ConfigurationError(f"there is no policy {text!r}; {FORMS}")


def _scripted(place: str) -> Policy:
    module, _, name = place.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in (name or "policy").split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"scripted:{place} is no policy: {error}; {FORMS}") from error
    made = found() if isinstance(found, type) else found
    policy = as_policy(made)
    if not isinstance(made, Policy):
        policy.name = f"scripted:{place}"
    return policy


def _model(vendor: Literal["openai", "anthropic"], place: str) -> Policy:
    from openenv.llm import AnthropicClient, OpenAIClient, create_llm_client
    from openenv.rollout.policies.model_policy import ModelPolicy

    model, served, address = place.partition("@http")
    key = settings.model_key(vendor, at_vendor=not served)
    if served:
        kind = OpenAIClient if vendor == "openai" else AnthropicClient
        return ModelPolicy(kind(f"http{address}", None, model, key), name=f"{vendor}:{model}")
    if not key:
        raise ConfigurationError(
            f"there is no key for {vendor}: set {vendor.upper()}_API_KEY, or name a server of your "
            f"own: {vendor}:{model}@http://localhost:8000"
        )
    return ModelPolicy(create_llm_client(vendor, model, key), name=f"{vendor}:{model}")
