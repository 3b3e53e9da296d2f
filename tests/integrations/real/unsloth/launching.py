"""unsloth_zoo's own launcher starts our 2048, and its time limits break into our client.

A limit raises in the middle of a call, with the request under way: what comes afterwards must be
the answer to what is asked afterwards. Its other kind runs the function in a forked process, which
must not hang on the connection it has inherited.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from openspiel_env import OpenSpielAction, OpenSpielEnv

os.environ["UNSLOTH_FORCE_CPU"] = "1"

import_module("unsloth")  # before unsloth_zoo, as it asks for
zoo: Any = import_module("unsloth_zoo.rl_environments")

ROOT = Path(__file__).resolve().parents[4]
GAME = "2048"
CELLS = 16
TIMEOUTS = 3
LIMIT_S = 0.3
STRATEGY = '''
def strategy(board):
    """The first move that is always worth trying."""
    return sum(board) % 4
'''
Strategy = Callable[[list[int]], int]


def launched(port: int, client: Any) -> tuple[int, Any]:
    """The server's port and a client of it; those given, if they still work."""
    found: tuple[int, Any] = zoo.launch_openenv(
        port=port,
        openenv_process=client,
        working_directory=str(ROOT),
        server="envs.openspiel_env.server.app:app",
        environment={**os.environ, "OPENSPIEL_GAME": GAME},
        openenv_class=OpenSpielEnv,
    )
    return found


def stepped(client: Any, action_id: int) -> Any:
    return client.step(OpenSpielAction(action_id=action_id, game_name=GAME))


def play(strategy: Strategy, client: Any) -> int:
    """Plays a game; how many moves it took."""
    result, moves = client.reset(), 0
    while not result.done and moves < 200:
        observation = result.observation
        action = strategy([int(cell) for cell in observation.info_state])
        legal = observation.legal_actions
        result = stepped(client, action if action in legal else legal[0])
        moves += 1
    return moves


def play_for_ever(client: Any) -> None:
    while True:
        if stepped(client, client.reset().observation.legal_actions[0]).done:
            client.reset()


def assert_in_step(client: Any) -> None:
    """The next answers are those to the next questions."""
    begun = client.reset()
    cells = [cell for cell in begun.observation.info_state if cell]
    assert len(begun.observation.info_state) == CELLS and len(cells) == 2, begun.observation
    assert not begun.done and client.state().step_count == 0, client.state()
    stepped(client, begun.observation.legal_actions[0])
    assert client.state().step_count == 1, client.state()


def break_in(client: Any) -> None:
    """Breaks into a call, again and again."""
    for _ in range(TIMEOUTS):
        try:
            zoo.execute_with_time_limit(LIMIT_S)(play_for_ever)(client)
        except TimeoutError:
            assert_in_step(client)
        else:
            raise AssertionError("the limit did not break in")


def main() -> None:
    began = time.monotonic()
    port, client = launched(9000, None)
    try:
        print(f"unsloth launch_openenv: 2048 is served after {time.monotonic() - began:.1f} s")
        assert launched(port, client) == (port, client), "a server that works was not kept"
        strategy: Strategy = zoo.create_locked_down_function(STRATEGY)
        moves = zoo.execute_with_time_limit(30)(play)(strategy, client)
        assert moves > 10, moves
        break_in(client)
        print(f"unsloth time limits: {moves} moves, {TIMEOUTS} timeouts in flight, still in step")
        forked = zoo.execute_with_time_limit(30, backend="process")(play)(strategy, client)
        assert forked > 10, forked
        assert_in_step(client)
        print(f"unsloth time limits: {forked} moves in a forked process, the client is in step")
    finally:
        client.close()


if __name__ == "__main__":
    main()
