"""The Python session, in the module that other frameworks' configurations name."""

from coding_env.server.coding_environment import PythonCodeActEnv

__all__ = ["PythonCodeActEnv"]
