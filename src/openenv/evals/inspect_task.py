"""Episodes of a served environment as a task of Inspect AI's.

Needs the extra `inspect`. Where Inspect's command line is to find it, a file says
`from openenv.evals.inspect_task import episodes` and has a task of its own that returns one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, nan
from typing import Any, get_args

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import execute_tools, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from openenv.client.generic import GenericEnvClient
from openenv.evals.inspect_episode import Episode, Moves, Outcome
from openenv.protocol.errors import ConfigurationError
from openenv.rollout.policies.acting import as_text, seen

PROMPT = (
    "You are an agent in an environment. Act by calling tools, until the episode is over; it ends "
    "for you at the first answer in which you call none. This is how it begins:"
)
QUEUE_S = 60.0
"""How long a sample waits for a session, where the server is full."""


@task
def episodes(
    base_url: str = "http://localhost:8000",
    seeds: int | Sequence[int] = 10,
    prompt: str = PROMPT,
    moves: Moves = "auto",
    max_turns: int = 50,
    options: dict[str, Any] | None = None,
) -> Task:
    """One sample for each seed: an episode that the model plays, scored by its reward.

    Args:
        base_url: the server's address; the token is that of `OPENENV_CLIENT_TOKEN`.
        seeds: the seeds of the episodes, or how many there are, from seed 0 on.
        prompt: what the model is told before what it sees first.
        moves: by the environment's `tools`, by its `actions`, as one tool `act`, or `auto`: by
            tools where there are some.
        max_turns: how many answers of the model an episode has at most.
        options: further keywords of the environment's `reset`.

    Raises:
        ConfigurationError: there is no episode to be played, no turn to be had, or no such kind of
            moves.
    """
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    if not chosen:
        raise ConfigurationError(f"seeds must name at least one episode, got {seeds!r}")
    samples = [Sample(input=prompt, id=str(seed), metadata={"seed": seed}) for seed in chosen]
    return Task(
        dataset=MemoryDataset(samples, name="episodes"),
        solver=play(base_url, moves, max_turns, options),
        scorer=[episode_reward(), episode_done()],
    )


@solver
def play(
    base_url: str,
    moves: Moves = "auto",
    max_turns: int = 50,
    options: dict[str, Any] | None = None,
) -> Solver:
    """Plays an episode of the sample's seed in a session of its own; arguments as of `episodes`.

    What goes wrong with the session is the sample's error. An action that the environment does not
    accept is told to the model.

    Raises:
        ConfigurationError: there is no such kind of moves, or no turn to be had.
    """
    if moves not in get_args(Moves) or max_turns < 1:
        raise ConfigurationError(
            f"moves must be one of {', '.join(get_args(Moves))} and max_turns at least 1, got "
            f"moves={moves!r}, max_turns={max_turns!r}"
        )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async with GenericEnvClient(base_url, protocol="v2+json", wait_s=QUEUE_S) as client:
            first = await client.reset(**{"seed": state.metadata.get("seed"), **(options or {})})
            outcome = state.store_as(Outcome)
            outcome.done, outcome.truncated = first.done, first.truncated
            episode = Episode(client, outcome)
            state.tools = await episode.tools(moves)
            state.user_prompt.text += f"\n\n{as_text(seen(first.observation))}"
            for _ in range(max_turns):
                if outcome.done or not await _turn(state):
                    break
        return state

    return solve


async def _turn(state: TaskState) -> bool:
    """One answer of the model, and the calls in it; whether there were some."""
    state.output = await get_model().generate(state.messages, state.tools)
    if state.output.empty:  # a provider's way to say that it refused
        return False
    state.messages.append(state.output.message)
    if not state.output.message.tool_calls:
        return False
    called = await execute_tools(state.messages, state.tools)
    state.messages.extend(called.messages)
    return True


@scorer(metrics=[mean(), stderr()])
def episode_reward() -> Scorer:
    """The sum of an episode's rewards.

    An episode of which a reward could not be computed, or that gave none, has no score: it is in
    no metric, and its explanation says why.
    """

    async def score(state: TaskState, target: Target) -> Score:
        outcome = state.store_as(Outcome)
        given = [reward for reward in outcome.rewards if reward is not None]
        facts = {"steps": len(outcome.rewards), "rewards": outcome.rewards}
        if outcome.reward_error is not None or not given:
            why = outcome.reward_error or f"no reward was given in {facts['steps']} steps"
            return Score(value=nan, explanation=f"unscored: {why}", metadata=facts)
        return Score(value=fsum(given), metadata=facts)

    return score


@scorer(metrics=[accuracy()])
def episode_done() -> Scorer:
    """Whether an episode was played to its end."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = state.store_as(Outcome)
        return Score(value=outcome.done, metadata={"truncated": outcome.truncated})

    return score
