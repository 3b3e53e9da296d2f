"""The maze, in the module that other frameworks' configurations name."""

from maze_env.server.maze_environment import MazeEnvironment

__all__ = ["MazeEnvironment"]
