"""Python code, run in a sandbox: a session's variables live as long as its episode."""

from coding_env.client import CodingEnv
from coding_env.models import Artefact, CodeAction, CodeError, CodeObservation, CodeState

__all__ = ["Artefact", "CodeAction", "CodeError", "CodeObservation", "CodeState", "CodingEnv"]
