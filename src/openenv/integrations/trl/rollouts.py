"""rollout_func: episodes of a served environment, all at once, for a trainer's own model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from openenv.harness.rollouts.client_session import ClientSession, RewardOf
from openenv.harness.rollouts.results import HarnessRolloutResult, HarnessRunLimits
from openenv.harness.rollouts.rewards import REWARD_ERROR, resolve_env_reward
from openenv.harness.rollouts.rollout_errors import RewardInvalid, RewardMissing, RolloutFailed
from openenv.harness.rollouts.rollout_func import judged
from openenv.harness.rollouts.served import Moves, ServedSessions
from openenv.harness.rollouts.tokens import TokenSequence
from openenv.harness.rollouts.white_box import MCPHarnessAdapter
from openenv.integrations.trl.environments import Client, served
from openenv.integrations.trl.rounds import Rounds, Sample
from openenv.integrations.trl.sampling import sampler
from openenv.integrations.trl.seats import LOST, Text, conversation, introduction, patiently
from openenv.integrations.trl.turns import Script, Turns
from openenv.protocol.errors import ConfigurationError, Json, OpenEnvError

Rollouts = dict[str, list[Any]]
"""Lists of one item for each prompt, as TRL reads them."""
_Task = tuple[Any, int | None]
"""A prompt and a seed."""


def env_reward(env_reward: Sequence[float | None], **_: Any) -> list[float | None]:
    """The environment's own reward, for `GRPOTrainer(reward_funcs=env_reward, rollout_func=…)`."""
    return list(env_reward)


def rollout_func(  # noqa: PLR0913  # each is a user's to set
    client: str | Client,
    *,
    base_url: str | None = None,
    tools: Moves = "auto",
    reset_text: Text | None = None,
    reward: RewardOf = "last",
    options: Mapping[str, Any] | None = None,
    seed: int | None = 0,
    sessions: int = 64,
    max_turns: int = 16,
    idle_reward: float | None = 0.0,
    patience_s: float = 60.0,
) -> RolloutFunction:
    """A function for `GRPOTrainer(rollout_func=…)` over sessions of a server.

    All rollouts of a batch are played at once, each in a session of its own, which is closed at
    its end. Their turns are sampled together with the trainer's model.

        trainer = GRPOTrainer(model, reward_funcs=env_reward, rollout_func=rollout_func(URL), …)

    It gives TRL `prompt_ids`, `completion_ids`, `logprobs`, `env_mask` (1 for tokens that the
    model sampled) and, for reward functions, `env_reward` and `verify_metrics`. A rollout that
    failed has the reward `None`, no token that counts, and its error in `verify_metrics`.

    Args:
        client: the server's address; or a client class, with `base_url`.
        base_url: the server's address, with a client class.
        tools: the model moves by `"tools"`, by `"actions"` (one tool `act`), or `"auto"`.
        reset_text: what the model reads of the first observation, behind its prompt; by default
            its `text`, or its fields as JSON. `None` of it for nothing.
        reward: an episode's reward: the `"last"` step's, or the `"sum"` of all.
        options: what each reset is given.
        seed: the first group's; each further group has the next one, and all episodes of a group
            the same. `None` for none.
        sessions: how many are open at once, from 1; more rollouts are played in turn.
        max_turns: turns of the model in an episode.
        idle_reward: the reward of an episode in which the model did nothing; `None` leaves it out.
        patience_s: how long a rollout waits for a server that is being started anew, in seconds.

    The function raises what concerns the set-up (no capacity, bad options), and the first error
    if not one rollout of two batches, one after the other, could be played.

    Raises:
        ConfigurationError: an argument is wrong.
    """
    for name, value in {"sessions": sessions, "max_turns": max_turns}.items():
        if value < 1:
            raise ConfigurationError(f"{name} must be a whole number from 1, got {value!r}")
    client_class, url = served(client, base_url)
    made = ServedSessions(
        url,
        options=options,
        reward=reward,
        moves=tools,
        introduction=introduction(reset_text),
        client=client_class,
    )
    limits = HarnessRunLimits(max_turns=max_turns)
    return RolloutFunction(made, limits, _Terms(seed, sessions, idle_reward, patience_s))


@dataclass(frozen=True)
class _Terms:
    seed: int | None
    sessions: int
    idle_reward: float | None
    patience_s: float


@dataclass
class _Played:
    """One rollout, as TRL is told of it."""

    tokens: TokenSequence
    reward: float | None
    metrics: Json
    error: Exception | None = None


class RolloutFunction:
    """Plays an episode for each prompt; made by `rollout_func`."""

    def __init__(self, sessions: ServedSessions, limits: HarnessRunLimits, terms: _Terms) -> None:
        self._sessions = sessions
        self._limits = limits
        self._terms = terms
        self._groups = self._lost_batches = 0

    def __call__(self, prompts: list[Any], trainer: Any) -> Rollouts:
        """One rollout for each prompt, in order."""
        sample, script = sampler(trainer), Script(trainer)
        tasks = list(zip(prompts, self._seeds(len(prompts), trainer), strict=True))
        played: list[_Played] = []
        for first in range(0, len(tasks), self._terms.sessions):
            wave = tasks[first : first + self._terms.sessions]
            played += self._wave(wave, sample, script)
        self._refuse_to_go_on_in_vain(played)
        return _columns(played)

    def _wave(self, tasks: Sequence[_Task], sample: Sample, script: Script) -> list[_Played]:
        """Plays as many rollouts as there may be sessions."""
        rounds = Rounds(len(tasks))

        def play(place: int) -> _Played:
            try:
                return self._play(tasks[place], Turns(script, partial(rounds.take, place)), script)
            finally:
                rounds.leave()

        with ThreadPoolExecutor(len(tasks), thread_name_prefix="openenv-rollout") as threads:
            playing = [threads.submit(play, place) for place in range(len(tasks))]
            rounds.serve(sample)
        return [each.result() for each in playing]

    def _refuse_to_go_on_in_vain(self, played: Sequence[_Played]) -> None:
        """A server that is started anew takes a whole batch with it, but not the next one too."""
        errors = [each.error for each in played if each.error is not None]
        self._lost_batches = self._lost_batches + 1 if len(errors) == len(played) else 0
        if errors and self._lost_batches > 1:
            raise OpenEnvError(
                f"not one rollout of two batches could be played: {errors[0]}"
            ) from errors[0]

    def _seeds(self, count: int, trainer: Any) -> list[int | None]:
        """A seed for each prompt, equal within a group, different between processes."""
        if self._terms.seed is None:
            return [None] * count
        args, accelerator = trainer.args, trainer.accelerator
        size = args.num_generations
        if not trainer.model.training:
            size = args.num_generations_eval or size
        before = accelerator.process_index * count
        first = self._terms.seed + self._groups
        self._groups += -(-count * accelerator.num_processes // size)
        return [first + (before + number) // size for number in range(count)]

    def _play(self, task: _Task, turns: Turns, script: Script) -> _Played:
        """Plays one episode, in a thread of its own."""
        prompt, seed = task
        try:
            with self._session(prompt, seed) as session:
                rollout = MCPHarnessAdapter().run_white_box(turns, session, self._limits)
                return self._scored(session, rollout)
        except LOST as error:
            return _failed(error, HarnessRolloutResult(), script.blank(conversation(prompt)))
        except RolloutFailed as error:
            if not isinstance(error.__cause__, LOST):
                raise
            return _failed(error, error.rollout, script.blank(conversation(prompt)))

    @contextmanager
    def _session(self, prompt: Any, seed: int | None) -> Iterator[ClientSession]:
        begin = partial(self._sessions.create, prompt, seed)
        session = patiently(begin, self._terms.patience_s)
        try:
            yield session
        finally:
            with suppress(OpenEnvError):  # the server is gone, and the session with it
                session.close()

    def _scored(self, session: ClientSession, rollout: HarnessRolloutResult) -> _Played:
        verdict = judged(session, rollout)
        metrics = {**rollout.metrics, **verdict.metrics}
        try:
            reward: float | None = resolve_env_reward(rollout, verdict)
        except RewardInvalid as error:
            reward, metrics = None, {REWARD_ERROR: str(error), **metrics}
        except RewardMissing:
            did = any(entry.result.error is None for entry in rollout.tool_trace)
            reward = None if did else self._terms.idle_reward
        return _Played(TokenSequence.of(rollout), reward, metrics)


def _failed(error: Exception, rollout: HarnessRolloutResult, blank: TokenSequence) -> _Played:
    """A rollout that nothing is learned from: it has no reward, and none of its tokens counts."""
    tokens = TokenSequence.of(rollout)
    if not tokens.completion_ids:
        tokens = blank
    tokens.env_mask = [0] * len(tokens.completion_ids)
    return _Played(tokens, None, {REWARD_ERROR: str(error), **rollout.metrics}, error)


def _columns(played: Sequence[_Played]) -> Rollouts:
    return {
        "prompt_ids": [each.tokens.prompt_ids for each in played],
        "completion_ids": [each.tokens.completion_ids for each in played],
        "logprobs": [each.tokens.logprobs for each in played],
        "env_mask": [each.tokens.env_mask for each in played],
        "env_reward": [each.reward for each in played],
        "verify_metrics": [each.metrics for each in played],
    }
