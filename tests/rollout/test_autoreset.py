"""What follows an episode's end: the same as in Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from openenv import EnvironmentFailed, ResetRequired
from tests.client.ways import Ask
from tests.rollout.playing import Play, look

WORDS = ["go", "end", "cut"]
SIZE = 4


class Twin(gymnasium.Env[Any, Any]):
    """The soldier, as Gymnasium's environments are."""

    observation_space = gymnasium.spaces.Box(0, 1000, (2,), np.int64)
    action_space = gymnasium.spaces.Discrete(3)
    episode = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.episode += 1
        self.steps = 0
        return np.array([0, self.episode]), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        seen = np.array([self.steps, self.episode])
        return seen, float(self.steps), action == 1, action == 2, {}


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_as_in_gymnasium(play: Play, mode: str) -> None:
    reference: Any = SyncVectorEnv([Twin] * SIZE, autoreset_mode=AutoresetMode(_NAMES[mode]))
    rng = np.random.default_rng(7)

    async def talk(pool: Any, ask: Ask) -> None:
        seen, _ = reference.reset()
        batch = await ask(pool.reset())
        assert batch.stacked["pair"].tolist() == seen.tolist()
        for _ in range(40):
            actions = rng.integers(3, size=SIZE)
            seen, rewards, terminated, truncated, infos = reference.step(actions)
            batch = await ask(pool.step([WORDS[action] for action in actions]))
            assert batch.stacked["pair"].tolist() == seen.tolist()
            assert batch.rewards.tolist() == rewards.tolist()
            assert batch.terminated.tolist() == terminated.tolist()
            assert batch.truncated.tolist() == truncated.tolist()
            assert batch.began.tolist() == [step == 0 for step, _ in seen.tolist()]
            finals = [None if last is None else last.observation.pair for last in batch.final]
            expected = infos.get("final_obs", [None] * SIZE)
            assert finals == [None if last is None else last.tolist() for last in expected]

    play.run(talk, size=SIZE, autoreset=mode)


_NAMES = {"next_step": "NextStep", "same_step": "SameStep"}


def test_without_autoreset_the_caller_resets(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        batch = await ask(pool.step(["end", "go", "cut", "go"]))
        for _ in range(2):
            late = await ask(pool.step(["go"] * 4))
            assert late.valid.tolist() == [False, True, False, True]
            assert isinstance(late.errors[0], ResetRequired)
        batch = await ask(pool.reset(slots=batch.slots[batch.done]))
        assert batch.slots.tolist() == [0, 2]
        batch = await ask(pool.step(["go"] * 4))
        assert look(batch, "step") == [1, 4, 1, 4]
        assert look(batch, "episode") == [2, 1, 2, 1]

    play.run(talk, autoreset="disabled")


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_an_automatic_reset_has_the_options_of_the_last_but_not_its_seed(
    play: Play, mode: str
) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset(3, slots=[0, 1], level=1, episode_id="one"))
        await ask(pool.reset(3, slots=[2, 3], task="hard"))
        for word in ("end", "go"):
            batch = await ask(pool.step([word] * 4))
        assert look(batch, "options") == [["level"]] * 2 + [["task"]] * 2
        assert look(batch, "seed") == [None] * 4

    play.run(talk, autoreset=mode)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_sent_steps_are_reset_too(play: Play, mode: str) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        await ask(pool.send(["end", "go"], [0, 1]))
        batch = await ask(pool.recv())
        assert sorted(zip(batch.slots, batch.done, strict=True)) == [(0, True), (1, False)]
        await ask(pool.send(["go"], [0]))
        batch = await ask(pool.recv())
        assert look(batch, "episode") == [2]
        assert look(batch, "step") == [0 if mode == "next_step" else 1]

    play.run(talk, autoreset=mode)


def test_a_reset_that_failed_is_tried_again_by_the_next_step(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset())
        refused = await ask(pool.reset(slots=[0], refuse=True))
        assert isinstance(refused.errors[0], EnvironmentFailed)
        batch = await ask(pool.step(["go"] * 4))
        assert batch.valid.tolist() == [False, True, True, True]
        await ask(pool.reset(slots=[0]))
        batch = await ask(pool.step(["go"] * 4))
        assert look(batch, "step") == [1, 2, 2, 2]

    play.run(talk)


def test_the_reset_after_an_end_may_fail(play: Play) -> None:
    async def talk(pool: Any, ask: Ask) -> None:
        await ask(pool.reset(once=True))
        batch = await ask(pool.step(["end", "go", "go", "go"]))
        assert batch.done.tolist() == [True, False, False, False]
        assert batch.valid.tolist() == [False, True, True, True]
        assert batch.rewards[0] == 1.0
        assert batch.final[0].observation.word == "end"
        assert isinstance(batch.errors[0], EnvironmentFailed)

    play.run(talk, autoreset="same_step")
