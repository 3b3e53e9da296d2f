"""The server's side of the Grid World environment."""

from grid_world_env.server.grid_world_environment import GridWorldEnvironment

__all__ = ["GridWorldEnvironment"]
