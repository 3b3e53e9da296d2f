"""Many games at once: one client per session, all on one event loop."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from blackjack.learner import Decision, Episode
from blackjack_env import BlackJackAction, BlackJackEnv, BlackJackObservation
from blackjack_env.exact import Policy, Situation


class Sessions:
    """Open sessions of one server."""

    def __init__(self, clients: Sequence[BlackJackEnv]) -> None:
        self._clients = clients

    async def play(self, policy: Policy, seeds: Sequence[int]) -> list[Episode]:
        """Plays a game of each seed; each session takes the next one as soon as it is free."""
        episodes: dict[int, Episode] = {}
        waiting = iter(seeds)

        async def seat(client: BlackJackEnv) -> None:
            for seed in waiting:
                episodes[seed] = await play_game(client, policy, seed)

        await asyncio.gather(*(seat(client) for client in self._clients))
        return [episodes[seed] for seed in seeds]


@asynccontextmanager
async def open_sessions(url: str, count: int) -> AsyncIterator[Sessions]:
    """Connects that many clients, and closes them."""
    async with AsyncExitStack() as stack:
        clients = [BlackJackEnv(base_url=url) for _ in range(count)]
        for client in clients:
            await stack.enter_async_context(client)
        yield Sessions(clients)


async def play_game(client: BlackJackEnv, policy: Policy, seed: int) -> Episode:
    """One game. The seed settles the cards and the policy's coin, so it is the same every time."""
    coin = random.Random(f"coin {seed}")
    decisions = []
    result = await client.reset(seed=seed)
    while not result.done:
        situation = situation_of(result.observation)
        hit = coin.random() < policy(situation)
        decisions.append(Decision(situation, hit))
        result = await client.step(BlackJackAction(move="hit" if hit else "stand"))
    return Episode(decisions, float(result.reward or 0.0))


def situation_of(table: BlackJackObservation) -> Situation:
    """What of the table matters for a decision."""
    return Situation(table.player_sum, table.usable_ace, table.dealer_card)
