"""What environments of code are made with."""

from openenv.executor.py_executor import PyExecutor

__all__ = ["PyExecutor"]
