"""The server's side of the Maze environment."""

from maze_env.server.maze_environment import MazeEnvironment

__all__ = ["MazeEnvironment"]
