"""Stock trading by the rules of FinRL, without its heavy dependencies."""

from finrl_env.client import FinRLEnv
from finrl_env.models import FinRLAction, FinRLConfig, FinRLObservation, FinRLState

__all__ = ["FinRLAction", "FinRLConfig", "FinRLEnv", "FinRLObservation", "FinRLState"]
