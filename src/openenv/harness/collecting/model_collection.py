"""Episodes that a language model plays on a server, into a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openenv.harness.collecting.collect import CollectRunner
from openenv.harness.collecting.collection import Plan
from openenv.harness.collecting.records import CollectResult, RolloutSerializer
from openenv.harness.rollouts.model_step import build_model_step
from openenv.harness.rollouts.results import HarnessRunLimits
from openenv.harness.rollouts.served import ServedSessions
from openenv.harness.rollouts.white_box import MCPHarnessAdapter

if TYPE_CHECKING:
    from openenv.llm.base import LLMClient

SYSTEM_PROMPT = (
    "You play in an environment. You act by calling tools, one call at a time; each answers with "
    "what you see next. Go on until the episode ends."
)


@dataclass(frozen=True, kw_only=True)
class ModelCollection(Plan):
    """Episodes that a language model plays, by the environment's tools or its actions.

    Attributes:
        client: of the model.
        system_prompt: what the model is told first.
    """

    client: LLMClient
    system_prompt: str = SYSTEM_PROMPT

    def run(
        self, serializer: RolloutSerializer, told: Callable[[str], None] = lambda line: None
    ) -> CollectResult:
        """See `Plan`."""
        runner = CollectRunner(
            session_factory=ServedSessions(self.base_url, options=self.options),
            harness_adapter=MCPHarnessAdapter(),
            serializer=serializer,
            tasks=[self.task],
            limits=HarnessRunLimits(max_turns=self.max_turns),
        )
        with build_model_step(self.client, system_prompt=self.system_prompt) as step:
            return runner.run(
                model_step=step,
                num_episodes=self.num_episodes,
                episode_id_prefix=self.prefix,
                should_keep=self.keeps,
                told=told,
            )
