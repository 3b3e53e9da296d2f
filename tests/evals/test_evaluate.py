"""Policies on the same seeds of a served environment: what each achieves, and what counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv.evals import Evaluation, NotAnEvaluation, evaluate, load_evaluation
from openenv.protocol.errors import ConfigurationError, ConnectFailed, Json
from openenv.rollout import RandomPolicy, ScriptedPolicy, Trajectory
from tests.evals.lottery import Lottery
from tests.serving import serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(Lottery) as served:
        yield f"http://127.0.0.1:{served.port}"


def bets(ticket: str) -> ScriptedPolicy:
    """Does the same each time."""
    return ScriptedPolicy(lambda seen: {"ticket": ticket}, name=ticket)


def ticket_of(seen: Json) -> int:
    return int(seen["text"].split()[-1])


def keeps_even_tears_thirds(seen: Json) -> Json:
    """Its episodes fail, have no reward, or are kept, by the seed."""
    number = ticket_of(seen)
    return {"ticket": {0: "keep", 1: "tear", 2: "hide"}[number % 3]}


def test_policies_play_the_same_seeds(url: str) -> None:
    result = evaluate(url, [bets("sell"), bets("keep")], episodes=40)
    sold, kept = result.policies
    assert [each.seed for each in sold.outcomes] == list(range(40)) == result.seeds
    assert [each.seed for each in kept.outcomes] == list(range(40))
    assert (sold.mean_reward, sold.success_rate, sold.mean_steps) == (0.5, 1.0, 1.0)
    wins = sum(each.reward == 1.0 for each in kept.outcomes)
    assert kept.mean_reward == wins / 40 == kept.success_rate
    assert kept.reward_interval is not None
    assert kept.reward_interval.low < wins / 40 < kept.reward_interval.high
    assert result.environment["name"] == "Lottery"
    assert result["keep"] is kept


def test_what_failed_is_counted_apart_and_is_no_zero(url: str) -> None:
    result = evaluate(url, keeps_even_tears_thirds, episodes=30, options={"chance": 1.0})
    (card,) = result.policies
    assert (len(card.outcomes), card.scored, card.failed, card.unrewarded) == (30, 10, 10, 10)
    assert card.mean_reward == 1.0
    shares = card.shares()
    assert shares["invalid_action"] == shares["success"] == shares["terminated"] == 1 / 3
    assert sum(shares.values()) == pytest.approx(1.0)
    assert sorted(card.why_unscored().values()) == [10, 10]
    assert any("20 of 30 episodes are in no mean" in line for line in result.warnings())


def test_endings_are_told_apart(url: str) -> None:
    cut, waited = evaluate(url, [bets("forge"), bets("wait")], episodes=2, max_steps=3).policies
    assert (cut.shares()["truncated"], cut.mean_reward) == (1.0, 0.25)
    assert (waited.shares()["limit"], waited.mean_reward, waited.mean_steps) == (1.0, 0.0, 3.0)


def test_a_seed_that_is_played_often_counts_once(url: str) -> None:
    calls = iter(range(100))

    def sells_at_first(seen: Json) -> Json:
        is_first = ticket_of(seen) == 5 and next(calls) < 2
        return {"ticket": "sell" if is_first else "forge"}

    (card,) = evaluate(url, sells_at_first, seeds=[5, 6], episodes=4, sessions=1).policies
    assert len(card.outcomes) == 8
    assert card.by_seed == {5: 0.375, 6: 0.25}
    assert card.mean_reward == 0.3125
    assert card.reward_interval is not None
    assert (
        card.reward_interval.high > 1.0
    )  # two seeds are two values, however often they are played


def test_one_seed_has_the_interval_of_its_episodes(url: str) -> None:
    (card,) = evaluate(url, RandomPolicy(), seeds=[5], episodes=4).policies
    assert card.mean_reward is not None
    assert card.reward_interval is not None


@pytest.mark.parametrize(
    ("success", "rate"),
    [("text=sold", 1.0), ("reward>=0.6", 0.0), (lambda trajectory: len(trajectory) == 1, 1.0)],
)
def test_a_success_is_what_the_caller_says(url: str, success: Any, rate: float) -> None:
    (card,) = evaluate(url, bets("sell"), episodes=2, success=success).policies
    assert card.success_rate == rate


def test_where_nothing_counts_there_is_no_mean(url: str) -> None:
    result = evaluate(url, bets("tear"), episodes=2)
    (card,) = result.policies
    assert (card.mean_reward, card.reward_interval, card.mean_steps) == (None, None, None)
    assert "tear: no episode has a reward that counts" in result.warnings()
    json.dumps(result.to_dict(), allow_nan=False)


def test_resets_that_fail_are_failures_too(url: str) -> None:
    (card,) = evaluate(url, bets("sell"), episodes=2, options={"closed": True}).policies
    assert (card.failed, card.shares()["error"]) == (2, 1.0)


def test_results_are_kept_in_a_file(url: str, tmp_path: Path) -> None:
    result = evaluate(url, [bets("sell"), bets("tear")], episodes=3, options={"chance": 0.1})
    result.save(tmp_path / "results" / "first.json")
    again = load_evaluation(tmp_path / "results" / "first.json")
    assert again.to_dict() == result.to_dict()
    assert again["sell"].outcomes == result["sell"].outcomes


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "openenv.evaluation/1"}'])
def test_another_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(NotAnEvaluation, match=r"other\.json is no evaluation"):
        load_evaluation(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ({"reward": "high"}, "reward"),
        ({"reason": "boredom"}, "reason"),
        ({"steps": None}, "steps"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(
    url: str, tmp_path: Path, part: Json, wrong: str
) -> None:
    said = evaluate(url, bets("sell"), episodes=1).to_dict()
    said["policies"][0]["outcomes"][0] |= part
    (tmp_path / "result.json").write_text(json.dumps(said))
    with pytest.raises(NotAnEvaluation, match=f"outcomes.0.{wrong}"):
        load_evaluation(tmp_path / "result.json")


def test_episodes_in_a_folder_are_not_played_again(url: str, tmp_path: Path) -> None:
    played: list[int | None] = []

    class Listener:
        def begin(self, total: int, collected: Any) -> None:
            pass

        def episode(self, trajectory: Trajectory) -> None:
            played.append(trajectory.seed)

        def close(self) -> None:
            pass

    def run(episodes: int) -> Evaluation:
        played.clear()
        return evaluate(
            url,
            [bets("sell"), keeps_even_tears_thirds],
            episodes=episodes,
            folder=tmp_path,
            progress=lambda name: Listener(),
        )

    first = run(6)
    assert sorted(filter(None, played)) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    again = run(6)
    assert sorted(played, key=str) == [1, 4]  # those that failed
    for one, other in zip(first.policies, again.policies, strict=True):
        assert one.by_seed == other.by_seed
        assert other.failed == one.failed
    grown = run(8)
    assert sorted(played, key=str) == [1, 4, 6, 6, 7, 7]
    assert [len(card.outcomes) for card in grown.policies] == [8, 8]
    assert [len(card.outcomes) for card in run(2).policies] == [2, 2]


@pytest.mark.parametrize("other", [{"max_steps": 7}, {"options": {"chance": 0.9}}])
def test_a_folder_of_another_evaluation_is_refused(
    url: str, tmp_path: Path, other: dict[str, Any]
) -> None:
    evaluate(url, bets("sell"), episodes=1, folder=tmp_path)
    with pytest.raises(ConfigurationError, match="another evaluation"):
        evaluate(url, bets("sell"), episodes=1, folder=tmp_path, **other)


@pytest.mark.parametrize(
    ("policies", "options", "wrong"),
    [
        ([], {}, "at least one policy"),
        ([bets("sell"), bets("sell")], {}, "called sell"),
        (bets("sell"), {"episodes": 0}, "from 1 to 1000000 episodes"),
        (bets("sell"), {"episodes": 10**9}, "from 1 to 1000000 episodes"),
        (bets("sell"), {"seeds": range(1000), "episodes": 1001}, "from 1 to 1000000 episodes"),
        (bets("sell"), {"seeds": []}, "from 1 to 1000000 episodes"),
        (bets("sell"), {"success": "well"}, "FIELD=VALUE"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_at_once(
    policies: Any, options: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(ConfigurationError, match=wrong):
        evaluate("http://127.0.0.1:9", policies, **options)


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(ConnectFailed):
        evaluate("http://127.0.0.1:9", RandomPolicy(), episodes=1)
