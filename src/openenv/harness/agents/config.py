"""HarnessConfig: how an agent is started, and what it may cost."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field


class HarnessTransport(str, Enum):
    """How an environment talks with the agent in it."""

    STDIO = "stdio"
    HTTP = "http"
    MCP = "mcp"


class HarnessConfig(BaseModel):
    """How an agent is started.

    Attributes:
        name: the agent's, for people.
        command: the program and its arguments.
        working_directory: where it runs; made if it is missing. `None` is a directory of its own
            for each episode, which is removed with it.
        env_vars: variables that it gets on top of this process's, of which it gets none that looks
            like a credential.
        transport: how it is talked with.
        mcp_config_path: a file, within the working directory unless absolute, that names the
            environment's tools in the form that agents read (`mcpServers`), as long as the agent
            runs; one that is there already is left alone, and the start fails. `None` writes none.
        startup_timeout_s: how long it may take until it is ready.
        session_timeout_s: how long a turn may take.
        model: the model that it is to use: in the variable `OPENENV_MODEL`.
        api_key_env_var: the one credential of this process that it gets.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    command: list[str] = Field(min_length=1)
    working_directory: str | None = "/workspace"
    env_vars: dict[str, str] = Field(default_factory=dict, repr=False)
    transport: HarnessTransport = HarnessTransport.STDIO
    mcp_config_path: str | None = None
    startup_timeout_s: float = Field(default=30.0, gt=0)
    session_timeout_s: float = Field(default=600.0, gt=0)
    model: str | None = None
    api_key_env_var: str | None = None
