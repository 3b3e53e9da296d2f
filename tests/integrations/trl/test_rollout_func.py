"""Rollouts that are played for TRL: what it is given of them."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from echo_env.models import EchoAction, EchoObservation
from echo_env.server import EchoEnvironment
from openenv.harness import (
    HarnessRunLimits,
    MCPHarnessAdapter,
    ServedSessions,
    VerifyResult,
    build_harness_rollout_func,
)
from openenv.integrations.trl import env_reward, rollout_func, trainer_model_step
from openenv.integrations.trl.rounds import Rounds, Sampled, Wanted
from openenv.integrations.trl.sampling import sampler
from openenv.protocol.errors import ConfigurationError, OpenEnvError
from tests.integrations.trl.conftest import Trainers, column
from tests.serving import Served, serving

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.timeout(240),
]


class Meeting(EchoEnvironment):
    """An echo whose episodes begin together: each waits for seven others."""

    seeds: list[Any] = []
    together = threading.Barrier(8)
    HOST = "thread"  # type: ignore[assignment]  # one that waits

    def reset(self, seed: int | None = None, *args: Any, **options: Any) -> EchoObservation:
        self.seeds.append(seed)
        self.together.wait(30)
        return super().reset(seed, *args, **options)


class Broken(EchoEnvironment):
    """An echo whose episodes cannot begin."""

    def reset(self, *args: Any, **options: Any) -> EchoObservation:
        raise RuntimeError("out of order")


@pytest.fixture
def meeting() -> Iterator[Served]:
    Meeting.seeds.clear()
    with serving(Meeting, action_cls=EchoAction, observation_cls=EchoObservation) as served:
        yield served
        assert served.active() == 0


def silent(observation: Any) -> None:
    """Tells the model nothing of the first observation."""


def test_tokens_and_probabilities_are_the_models(trainers: Trainers, meeting: Served) -> None:
    torch: Any = pytest.importorskip("torch")
    url, given = f"http://127.0.0.1:{meeting.port}", []
    play = rollout_func(url, tools="actions", reset_text=silent, seed=5, sessions=8)

    def noted(prompts: list[Any], trainer: Any) -> Any:
        given.append(play(prompts, trainer))
        return given[-1]

    args = {"max_steps": 2, "per_device_train_batch_size": 16, "learning_rate": 0.0}
    trainer = trainers(args=args, rollout_func=noted, reward_funcs=env_reward)
    trainer.train()
    assert sorted(Meeting.seeds[:16]) == [5] * 8 + [6] * 8  # the generations of a prompt are equal
    assert sorted(Meeting.seeds[16:]) == [7] * 8 + [8] * 8
    rows = given[0]
    assert {len(values) for values in rows.values()} == {16}
    for prompt, completion, logprobs, mask in zip(
        *(rows[name] for name in ("prompt_ids", "completion_ids", "logprobs", "env_mask")),
        strict=True,
    ):
        ids = torch.tensor([prompt + completion])
        with torch.no_grad():
            every = torch.log_softmax(trainers.tiny.model(ids).logits[0, :-1], dim=-1)
        expected = every.gather(1, ids[0, 1:, None])[len(prompt) - 1 :, 0].tolist()
        for got, own, counts in zip(logprobs, expected, mask, strict=True):
            assert got == (pytest.approx(own, abs=1e-3) if counts else 0.0)
    called = [n for n, metrics in enumerate(rows["verify_metrics"]) if metrics["tool_calls"]]
    said = trainers.tiny.tokenizer.decode(rows["completion_ids"][called[0]])
    assert said.startswith("<tool_call>") and "<tool_response>" in said
    assert set(rows["env_mask"][called[0]]) == {0, 1}


def test_an_episode_is_no_longer_than_it_may_be(trainers: Trainers, meeting: Served) -> None:
    url, given = f"http://127.0.0.1:{meeting.port}", []
    play = rollout_func(url, tools="actions", reset_text=silent, seed=None, max_turns=1)

    def noted(prompts: list[Any], trainer: Any) -> Any:
        given.append(play(prompts, trainer))
        return given[-1]

    args = {"max_steps": 1, "max_completion_length": 12}
    trainers(args=args, rollout_func=noted, reward_funcs=env_reward).train()
    assert max(map(len, given[0]["completion_ids"])) <= 12
    assert {metrics["turns"] for metrics in given[0]["verify_metrics"]} == {1}
    assert Meeting.seeds == [None] * 8


@pytest.mark.expects_error_log
def test_a_run_in_vain_ends(trainers: Trainers) -> None:
    with serving(Broken, action_cls=EchoAction, observation_cls=EchoObservation) as served:
        play = rollout_func(f"http://127.0.0.1:{served.port}", tools="actions")
        trainer = trainers(args={"max_steps": 5}, rollout_func=play, reward_funcs=env_reward)
        with pytest.raises(OpenEnvError, match="two batches could be played.*out of order"):
            trainer.train()
    assert len(trainer.notes.rewards) == 1
    assert column(trainer, "grad_norm") == [0.0]  # the first batch taught nothing


def test_a_loop_of_ones_own(trainers: Trainers, meeting: Served) -> None:
    class Sessions(ServedSessions):
        """Sessions whose episodes are worth nothing where nothing was done."""

        def create(self, task: Any, *args: Any, **options: Any) -> Any:
            session = super().create(task, *args, **options)
            judge = session.verify

            def verify(*given: Any, **named: Any) -> VerifyResult:
                verdict = judge(*given, **named)
                verdict.env_reward = verdict.env_reward or 0.0
                return verdict

            session.verify = verify  # type: ignore[method-assign]
            return session

    Meeting.together = threading.Barrier(1)  # it plays one after another
    made = Sessions(f"http://127.0.0.1:{meeting.port}", moves="actions", reward="last")
    play = build_harness_rollout_func(
        session_factory=made,
        harness_adapter=MCPHarnessAdapter(),
        model_step_builder=trainer_model_step,
        limits=HarnessRunLimits(max_turns=3),
    )
    trainer = trainers(args={"max_steps": 1}, rollout_func=play, reward_funcs=env_reward)
    try:
        trainer.train()
    finally:
        Meeting.together = threading.Barrier(8)
    assert len(trainer.notes.rewards[0]) == 8
    assert column(trainer, "reward_std")[0] >= 0


def test_rounds_wait_for_those_who_still_play() -> None:
    rounds, sizes = Rounds(3), []

    def play(turns: int) -> list[int]:
        try:
            return [rounds.take(3 - turns, Wanted([turns], 1)).ids[0] for _ in range(turns)]
        finally:
            rounds.leave()

    def sample(wanted: Any) -> list[Sampled]:
        sizes.append([each.prompt_ids[0] for each in wanted])
        return [Sampled([each.prompt_ids[0] * 10], [0.0]) for each in wanted]

    with ThreadPoolExecutor(3) as threads:
        playing = [threads.submit(play, turns) for turns in (1, 2, 3)]
        rounds.serve(sample)
    assert [each.result() for each in playing] == [[10], [20, 20], [30, 30, 30]]
    assert sizes == [[3, 2, 1], [3, 2], [3]]


def test_rounds_that_break_leave_nobody_waiting() -> None:
    rounds = Rounds(2)

    def play() -> None:
        try:
            for _ in range(2):
                with pytest.raises(OpenEnvError, match="given up"):
                    rounds.take(0, Wanted([1], 1))
        finally:
            rounds.leave()

    def sample(wanted: Any) -> list[Sampled]:
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as threads:
        playing = [threads.submit(play) for _ in range(2)]
        with pytest.raises(KeyboardInterrupt):
            rounds.serve(sample)
    assert [each.result() for each in playing] == [None, None]


def test_mistakes() -> None:
    with pytest.raises(ConfigurationError, match="sessions must be"):
        rollout_func("http://localhost:1", sessions=0)
    with pytest.raises(ConfigurationError, match="moves must be one of"):
        rollout_func("http://localhost:1", tools="hands")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="use_vllm=False"):
        sampler(SimpleNamespace(args=SimpleNamespace(use_vllm=True)))
