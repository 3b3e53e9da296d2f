"""Many games of BlackJack with a package's own clients: ``own_games.py PORT KIND GAMES SECONDS``.

KIND is `pool` (one `EnvPool`, which blocks) or `gather` (as many async clients, awaited together,
for a package without a pool). Prints a line of JSON: the time of each round of steps, one for each
game, and the wall and CPU seconds of the run.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from own_client import drive, drive_async
from workloads import BLACKJACK_SEED, WORKLOADS

CYCLE = WORKLOADS["blackjack"].cycle


def pooled(url: str, games: int, seconds: float) -> dict[str, Any]:
    from openenv import EnvPool

    with EnvPool(url, games, autoreset="disabled") as pool:
        seeds = [BLACKJACK_SEED] * games
        turns = itertools.cycle(CYCLE)

        def step() -> None:
            op, data = next(turns)
            batch = pool.reset(seeds) if op == "reset" else pool.step([data] * games)
            if not batch.valid.all():
                raise RuntimeError(f"a step failed: {batch.errors}")

        pool.reset(seeds)
        return drive(step, seconds)


async def gathered(url: str, games: int, seconds: float) -> dict[str, Any]:
    from openenv import GenericEnvClient

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(GenericEnvClient(base_url=url)) for _ in range(games)
        ]
        turns = itertools.cycle(CYCLE)

        def call(client: Any, op: str, data: dict[str, Any]) -> Awaitable[Any]:
            made: Awaitable[Any] = client.reset(**data) if op == "reset" else client.step(data)
            return made

        async def step() -> None:
            op, data = next(turns)
            await asyncio.gather(*(call(client, op, data) for client in clients))

        await asyncio.gather(*(client.reset(seed=BLACKJACK_SEED) for client in clients))
        return await drive_async(step, seconds)


KINDS: dict[str, Callable[[str, int, float], dict[str, Any]]] = {
    "pool": pooled,
    "gather": lambda url, games, seconds: asyncio.run(gathered(url, games, seconds)),
}


if __name__ == "__main__":
    address = f"http://127.0.0.1:{sys.argv[1]}"
    print(json.dumps(KINDS[sys.argv[2]](address, int(sys.argv[3]), float(sys.argv[4]))))
