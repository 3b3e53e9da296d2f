"""Many episodes, and many sessions."""

import random
from collections import defaultdict
from typing import Any

from openenv.rollout.pool import EnvPool
from tests.client.ways import Ask
from tests.rollout.playing import Play
from tests.rollout.worlds import Soldier, SoldierClient
from tests.serving import serving


class Logbook:
    """What every slot saw, and who is free for a step."""

    def __init__(self) -> None:
        self.seen: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
        self.idle: set[int] = set()
        self.episodes = 0

    def enter(self, batch: Any) -> None:
        for slot, sight in zip(batch.slots.tolist(), batch.observations, strict=True):
            self.seen[slot].append((sight.session, sight.episode, sight.step))
            self.idle.add(slot)
        self.episodes += int(batch.done.sum())

    def leave(self, chance: random.Random) -> list[int]:
        leaving = chance.sample(sorted(self.idle), chance.randint(0, len(self.idle)))
        self.idle.difference_update(leaving)
        return leaving


def test_a_thousand_episodes_in_any_order_are_complete_and_in_order(play: Play) -> None:
    """On ten sessions, whose steps are sent and taken at random."""
    chance = random.Random(5)
    book = Logbook()

    async def talk(pool: Any, ask: Ask) -> None:
        book.enter(await ask(pool.reset()))
        while book.episodes < 1000:
            if leaving := book.leave(chance):
                orders = [chance.choice(["go", "go", "end", "cut"]) for _ in leaving]
                await ask(pool.send(orders, leaving))
            if away := 10 - len(book.idle):
                book.enter(await ask(pool.recv(chance.randint(1, away))))
        if pool.metrics.waiting:
            book.enter(await ask(pool.recv()))
        assert pool.metrics.episodes == book.episodes

    play.run(talk, size=10)
    for trajectory in book.seen.values():
        assert len({session for session, _, _ in trajectory}) == 1
        for (_, episode, step), (_, *after) in zip(trajectory, trajectory[1:], strict=False):
            assert after in ([episode, step + 1], [episode + 1, 0])


def test_five_hundred_sessions(colour: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        assert (await ask(pool.reset(0))).valid.all()
        assert served.openenv.active_sessions == 512
        for step in (1, 2, 3):
            batch = await ask(pool.step(["go"] * 512))
            assert batch.stacked["step"].tolist() == [step] * 512
        await ask(pool.close())
        assert served.openenv.active_sessions == 0

    with serving(Soldier, max_concurrent_envs=512, host_kind="inline") as served:
        Play(colour, f"http://127.0.0.1:{served.port}").run(talk, size=512)


def test_calls_of_all_slots_run_at_the_same_time(url: str, tmp_path: Any) -> None:
    """Each step stays until all have begun."""
    with EnvPool(url, 16, SoldierClient) as pool:
        pool.reset()
        pool.send([f"stay {tmp_path}/{slot}" for slot in range(16)], range(16))
        while len(list(tmp_path.iterdir())) < 16:
            assert len(pool.recv(timeout_s=0.01)) == 0
        (tmp_path / "go").touch()
        assert len(pool.recv()) == 16
