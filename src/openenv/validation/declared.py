"""The `validation:` block of an `openenv.yaml`: what an environment declares, and is held to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from typing_extensions import Self

from openenv.catalog.manifest import MANIFEST, Manifest, read_manifest, yaml_place
from openenv.protocol.errors import ConfigurationError
from openenv.validation.policy import Policy

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]


class _Block(BaseModel):
    """A part of the block: nothing but what is known."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Reward(_Block):
    """What rewards mean.

    Attributes:
        range: the least and the largest reward of a step.
        oracle_tolerance: by how much a reference solution may miss the maximum.
        floor_margin: by how much an empty solution must stay below the maximum.
        variance_tolerance: by how much the same solution's reward may vary.
    """

    range: tuple[float, float] = (0.0, 1.0)
    oracle_tolerance: float = Field(0.0, ge=0)
    floor_margin: float = Field(ge=0)
    variance_tolerance: float | None = Field(None, ge=0)

    @field_validator("range")
    @classmethod
    def _increases(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not value[0] < value[1]:
            raise ValueError(f"the range must go up, got {list(value)}")
        return value


class Judge(_Block):
    """The model that judges, where one does."""

    model: str
    version: str
    params: dict[str, Any] = {}


class Resources(_Block):
    """What one episode may use of a machine."""

    cpu: Positive
    memory_mb: Count
    disk_mb: Count
    episode_timeout_s: Positive
    gpus: int = Field(0, ge=0)
    gpu_types: list[str] = []


class Network(_Block):
    """Where the environment may connect to."""

    mode: Literal["public", "no-network", "allowlist"] = "public"
    allowed_hosts: list[str] = []

    @model_validator(mode="after")
    def _lists_hosts(self) -> Self:
        if self.mode == "allowlist" and not self.allowed_hosts:
            raise ValueError("the mode allowlist takes at least one host in allowed_hosts")
        if self.mode != "allowlist" and self.allowed_hosts:
            raise ValueError("allowed_hosts belongs to the mode allowlist alone")
        return self


class Oracle(_Block):
    """A reference solution."""

    form: Literal["injected_state", "script"]
    location: str


class Verifier(_Block):
    """What says how good a solution is."""

    kind: Literal["reward_channel", "script"]
    entry: str | None = None

    @model_validator(mode="after")
    def _has_entry(self) -> Self:
        if self.kind == "script" and not self.entry:
            raise ValueError("a verifier of kind script names its entry")
        return self


class Capabilities(_Block):
    """What the environment can do."""

    oracle: Oracle | None = None
    verifier: Verifier
    set_state: bool = False
    llm_judged: bool = False
    rubric_tree: bool = False
    task_api: bool = False
    canaries: Any = None
    declared_tools: list[str] = []
    declared_task_count: dict[str, int] = {}


class Types(_Block):
    """What kind of environment it is."""

    tags: list[str] = Field(min_length=1)


class TaskDistribution(_Block):
    """Where the tasks come from."""

    generator_seed: int | None = None
    dataset_version: str | None = None
    generator_model: str | None = None


class Execution(_Block):
    """How the environment is run to be validated."""

    kind: Literal["openenv_ws"] = "openenv_ws"
    probe_path: str = "validation/runtime.json"
    dockerfile: str = "Dockerfile"
    context: str = "."
    agent_boundary: Literal["api"] = "api"
    requires_credentials: bool = False


class Declared(_Block):
    """All of the block."""

    reward: Reward
    judge: Judge | None = None
    resources: Resources
    task_distribution: TaskDistribution | None = None
    network: Network = Network()
    capabilities: Capabilities
    types: Types
    execution: Execution | None = None

    @model_validator(mode="after")
    def _names_its_judge(self) -> Self:
        if self.capabilities.llm_judged != (self.judge is not None):
            raise ValueError("there is a judge if capabilities.llm_judged is true, and only then")
        return self


def out_of_bounds(declared: Declared, policy: Policy) -> list[tuple[str, str]]:
    """Which keys a policy does not allow to be what they are, and why."""
    reward, resources = declared.reward, declared.resources
    most = [
        ("reward.oracle_tolerance", reward.oracle_tolerance, policy.max_oracle_tolerance),
        (
            "reward.variance_tolerance",
            reward.variance_tolerance or 0.0,
            policy.max_variance_tolerance,
        ),
        (
            "resources.episode_timeout_s",
            resources.episode_timeout_s,
            policy.max_episode_timeout_s,
        ),
    ]
    faults = [(key, f"must be at most {limit:g}") for key, value, limit in most if value > limit]
    if reward.floor_margin < policy.min_floor_margin:
        faults.append(("reward.floor_margin", f"must be at least {policy.min_floor_margin:g}"))
    return faults


class DeclarationError(ConfigurationError):
    """A `validation:` block that is wrong.

    Attributes:
        faults: each with its file, line and column.
    """

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


def read_declared(directory: Path, policy: Policy) -> tuple[Manifest, Declared | None]:
    """A package's manifest, and what its `validation:` block declares; `None` if it has none.

    Raises:
        ManifestError: there is no `openenv.yaml`, or it is wrong outside of the block.
        DeclarationError: the block is wrong, or declares what the policy does not allow.
    """
    manifest = read_manifest(directory)
    if manifest.validation is None:
        return manifest, None
    path = directory / MANIFEST
    node = yaml.compose(path.read_text(encoding="utf-8-sig"), yaml.SafeLoader)

    def told(key: tuple[int | str, ...], why: str) -> str:
        line, column = yaml_place(node, ("validation", *key))
        return f"{path}:{line}:{column}: {'.'.join(map(str, key)) or 'validation'}: {why}"

    try:
        declared = Declared.model_validate(manifest.validation)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        raise DeclarationError(
            [told(f["loc"], f["msg"].removeprefix("Value error, ")) for f in faults]
        ) from error
    if beyond := out_of_bounds(declared, policy):
        raise DeclarationError([told(tuple(key.split(".")), why) for key, why in beyond])
    return manifest, declared


def normalized(manifest: Manifest, declared: Declared | None) -> dict[str, Any]:
    """The manifest of a report."""
    block = {} if declared is None else declared.model_dump(mode="json", exclude={"execution"})
    return {
        "manifest_schema_version": "1",
        "name": manifest.name,
        "version": manifest.version,
        "signature": MANIFEST,
        **block,
    }
