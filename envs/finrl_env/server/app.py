"""The FinRL environment's application, and the command that serves it."""

from __future__ import annotations

import logging

from finrl_env.models import FinRLAction, FinRLConfig, FinRLObservation
from finrl_env.options import configured
from finrl_env.orders import config_of
from finrl_env.server.finrl_environment import FinRLEnvironment
from openenv import create_app
from openenv.server.command import serve_command


def write_log(level: str) -> None:
    """Writes what this package logs to standard error, unless somebody has a place for it."""
    logger = logging.getLogger("finrl_env")
    logger.setLevel(level)
    if not logger.hasHandlers():
        logger.addHandler(logging.StreamHandler())


options = configured()
if options.log_level is not None:
    write_log(options.log_level)
config = config_of(options)  # a price table that is wrong is told of before anything is served

app = create_app(FinRLEnvironment, FinRLAction, FinRLObservation, env_name="finrl_env")


@app.get("/config")
async def get_config() -> FinRLConfig:
    """What is traded unless a reset asks for something else."""
    return config


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
