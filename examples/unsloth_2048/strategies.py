"""What the model is asked for, and what its answers earn: strategies, played by an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from random import Random
from typing import Any

from game_2048_env import Game2048Action, Game2048Env, extract_strategy
from openenv import OpenEnvError

PROMPT = """Write a strategy for the game 2048, as a Python function in one fenced block. It gets \
the board as a list of rows, 0 for an empty cell, and returns a move: "W" is up, "A" left, \
"S" down, "D" right.

```python
def strategy(board):
    return "W"
```"""
UNWRITTEN = -1.0
POINTS = 1000.0
"""The score that earns 1: a player of random moves gets about this."""
Reward = float | None
RewardFunction = Callable[..., list[Reward]]


def questions(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of a dataset: each answer to one of them plays the game of its seed."""
    rng = Random(seed)
    prompt = [{"role": "user", "content": PROMPT}]
    return [{"prompt": prompt, "seed": rng.randrange(2**31)} for _ in range(count)]


@contextmanager
def strategy_plays(
    base_url: str, *, sessions: int = 4, timeout_s: float = 5.0
) -> Iterator[RewardFunction]:
    """A reward function that has each strategy play a game, in the sandbox of a server.

    Args:
        base_url: a server of `game_2048_env`.
        sessions: how many games are played at once.
        timeout_s: the time that a strategy has for all its moves.

    Yields:
        a function for `reward_funcs`. A strategy earns its score over `POINTS`; an answer that
        holds none earns `UNWRITTEN`; `None`, which a trainer leaves out, is the reward of one that
        could not be played.
    """
    idle: SimpleQueue[Any] = SimpleQueue()

    def played(answer: str, seed: int) -> Reward:
        code = extract_strategy(answer)
        if code is None:
            return UNWRITTEN
        game = idle.get()
        try:
            return reward_of(game, code, seed, timeout_s)
        finally:
            idle.put(game)

    def strategy_plays(completions: list[Any], seed: list[int], **_: Any) -> list[Reward]:
        answers = [completion[-1]["content"] for completion in completions]
        return list(threads.map(played, answers, seed))

    with ExitStack() as stack:
        for _ in range(sessions):
            idle.put(stack.enter_context(Game2048Env(base_url=base_url).sync()))
        threads = stack.enter_context(ThreadPoolExecutor(sessions))
        yield strategy_plays


def reward_of(game: Any, code: str, seed: int, timeout_s: float) -> Reward:
    """What a strategy earns in the game of a seed."""
    try:
        game.reset(seed=seed, strategy_timeout_s=timeout_s)
        result = game.step(Game2048Action(strategy=code))
    except OpenEnvError as error:
        print(f"a strategy could not be played: {error}")
        return None
    if result.observation.strategy.reason in ("refused", "forbidden_import"):
        return UNWRITTEN
    return None if result.reward is None else result.reward / POINTS


def lesson(rng: Random) -> tuple[str, str]:
    """An answer of the right form, of any worth; one in ten is not even of that form."""
    moves = "".join(rng.sample("WASD", rng.randint(1, 4)))
    body = f'    import random\n    return random.choice("{moves}")'
    if rng.random() < 0.1:
        body = body[:-1]
    return PROMPT, f"```python\ndef strategy(board):\n{body}\n```"
