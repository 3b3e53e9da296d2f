"""Clients of every kind, each playing the episodes that it is given."""

import asyncio
import contextlib
import http.client
import json
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from openenv import StepResult
from openenv.rollout import Batch, EnvPool
from openenv.testing import Add, Count, CountingClient
from tests.client.ways import Ask, talking
from tests.proofs.episodes import Book, Episode, play

TIMEOUT_S = 20.0
CANCELLED_AFTER_S = 0.005


def block(url: str, share: Iterable[Episode], book: Book, protocol: str | None = None) -> None:
    """One blocking client plays them all."""

    async def talk(client: CountingClient, ask: Ask) -> None:
        for episode in share:
            await play(client, ask, episode, book)

    talking("blocking", talk, _client(url, protocol))


def await_all(
    url: str, shares: Iterable[Iterable[Episode]], book: Book, protocol: str | None = None
) -> None:
    """On one event loop, an awaiting client plays each share."""

    async def talk(share: Iterable[Episode]) -> None:
        async with _client(url, protocol) as client:
            for episode in share:
                await play(client, _awaited, episode, book)

    async def talk_all() -> None:
        await asyncio.gather(*map(talk, shares))

    asyncio.run(talk_all())


def anew(url: str, share: Iterable[Episode], book: Book) -> None:
    """Each episode has a client of its own, blocking and awaiting in turn."""
    for episode in share:
        first = Episode(episode.number, 1)
        if episode.ordinal % 2:
            block(url, [first], book)
        else:
            await_all(url, [[first]], book)


def give_up(url: str, share: Iterable[Episode], book: Book) -> None:
    """Each client is dropped in the middle of its episode, without a word."""
    for episode in share:
        client = _client(url)
        client.reset(seed=episode.number)
        result = client.step(Add(amount=1))
        book.episodes += 1
        book.steps += 1
        book.wrong += result.observation.count != episode.number + 1


def cancel(url: str, share: Iterable[Episode], book: Book) -> None:
    """Each episode ends in a step that is no longer waited for."""

    async def talk() -> None:
        async with _client(url) as client:
            for episode in share:
                await client.reset(seed=episode.number)
                with contextlib.suppress(asyncio.TimeoutError):
                    slow = client.step(Add(amount=1, pause_s=10 * CANCELLED_AFTER_S))
                    await asyncio.wait_for(slow, CANCELLED_AFTER_S)
                book.episodes += 1

    asyncio.run(talk())


def ask_over_http(url: str, share: Iterable[Episode], book: Book) -> None:
    """No socket at all: each episode is a session over HTTP."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)

    def ask(method: str, path: str, session: str, body: Any = None) -> Any:
        headers = {"X-Session-ID": session, "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse().read()
        return json.loads(answer) if answer else None

    with contextlib.closing(connection):
        for episode in share:
            ask("POST", "/reset", episode.tag, {"seed": episode.number})
            for action in episode.actions():
                taken = {"amount": action.amount, "last": action.last}
                ask("POST", "/step", episode.tag, {"action": taken})
                book.steps += 1
            state = ask("GET", "/state", episode.tag)
            expected = [action.amount for action in episode.actions()]
            book.episodes += 1
            book.wrong += state["amounts"] != expected
            ask("DELETE", "/session", episode.tag)


class _Slot:
    """One slot of a pool, and the episode that it is in."""

    def __init__(self, share: Iterable[Episode]) -> None:
        self.episodes = iter(share)
        self.taken: list[Add] = []
        self._left: Iterator[Add] = iter(())

    def begin(self) -> bool:
        """Goes on to its next episode; whether there is one."""
        episode = next(self.episodes, None)
        if episode is not None:
            self.episode, self.taken, self._left = episode, [], episode.actions()
        return episode is not None

    def act(self) -> bool:
        """Chooses its next action; whether there is one."""
        action = next(self._left, None)
        if action is not None:
            self.taken.append(action)
        return action is not None

    def note(self, result: StepResult[Count] | None, error: Exception | None, book: Book) -> None:
        """Notes what came of its last action; an episode that failed is over."""
        if result is None:
            book.error(self.episode, self.taken, error or RuntimeError("no result, and no error"))
            self._left = iter(())
        else:
            episode = self.episode
            expected = episode.expected(self.taken) if self.taken else episode.start()
            book.answer(episode, result.observation, expected.model_copy(update={"episode": ""}))


def pool(
    url: str, shares: Iterable[Iterable[Episode]], book: Book, protocol: str | None = None
) -> None:
    """A pool with a slot for each share. It knows no final states: its counts must do."""
    slots = [_Slot(share) for share in shares]
    options: dict[str, Any] = {"timeout_s": TIMEOUT_S, "protocol": protocol}
    with EnvPool(url, len(slots), CountingClient, autoreset="disabled", **options) as envs:
        ready = list(range(len(slots)))
        while ready:
            acting = [at for at in ready if slots[at].act()]
            if acting:
                batch = envs.step([slots[at].taken[-1] for at in acting], slots=acting)
                book.steps += len(acting)
                _note(batch, slots, book)
            beginning = [at for at in ready if at not in acting and slots[at].begin()]
            if beginning:
                seeds = [slots[at].episode.number for at in beginning]
                book.episodes += len(beginning)
                _note(envs.reset(seeds, slots=beginning), slots, book)
            ready = acting + beginning


def _note(batch: Batch[Count], slots: list[_Slot], book: Book) -> None:
    for at, result, error in zip(batch.slots, batch.results, batch.errors, strict=True):
        slots[at].note(result, error, book)


def _client(url: str, protocol: str | None = None) -> CountingClient:
    return CountingClient(base_url=url, message_timeout_s=TIMEOUT_S, protocol=protocol)


async def _awaited(call: Awaitable[Any]) -> Any:
    return await call
