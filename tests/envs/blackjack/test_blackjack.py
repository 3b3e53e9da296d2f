"""The BlackJack environment: cards, seeds, and what a player gets to see."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from blackjack_env import BlackJackAction, BlackJackEnv, BlackJackObservation, BlackJackState
from blackjack_env.rules import Result, total
from blackjack_env.server import BlackJackEnvironment
from openenv import InvalidRequest, SyncEnvClient, errors, local
from tests.markup import buttons_of, view_of

Table = SyncEnvClient[BlackJackAction, BlackJackObservation, BlackJackState]

HIT, STAND = BlackJackAction(move="hit"), BlackJackAction(move="stand")


@pytest.fixture(params=["local", "served"])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    """A table in this process, and one behind a socket."""
    client: Table
    if request.param == "local":
        client = local(BlackJackEnvironment).sync()
    else:
        client = BlackJackEnv(base_url=request.getfixturevalue("blackjack_url")).sync()
    with client:
        yield client


def test_a_deal_shows_two_cards_and_one(table: Table) -> None:
    result = table.reset(seed=7)
    seen = result.observation
    assert len(seen.player_cards) == 2
    assert seen.dealer_cards == [seen.dealer_card]
    assert (seen.player_sum, seen.usable_ace) == total(seen.player_cards)
    assert seen.legal_actions == ["hit", "stand"]
    assert seen.result is None
    assert (result.reward, result.done) == (0.0, False)


def test_a_game_ends_with_a_result_and_its_reward(table: Table) -> None:
    rewards: dict[Result, float] = {"win": 1.0, "push": 0.0, "lose": -1.0}
    met = set()
    for seed in range(60):
        table.reset(seed=seed)
        result = table.step(STAND)
        assert result.done
        assert result.observation.legal_actions == []
        assert total(result.observation.dealer_cards).points >= 17
        assert result.observation.result is not None
        assert result.reward == rewards[result.observation.result]
        met.add(result.observation.result)
    assert met == set(rewards)


def test_a_bust_loses_at_once(table: Table) -> None:
    result = table.reset(seed=3)
    while not result.done:
        assert result.reward == 0.0
        result = table.step(HIT)
    assert result.observation.player_sum > 21
    assert (result.observation.result, result.reward) == ("lose", -1.0)
    assert len(result.observation.dealer_cards) == 1


def test_the_text_tells_the_whole_table(table: Table) -> None:
    for seed in range(40):
        seen = table.reset(seed=seed).observation
        kind = "soft" if seen.usable_ace else "hard"
        assert seen.text == f"you {kind} {seen.player_sum} dealer {seen.dealer_card} act"
        end = table.step(STAND).observation
        dealer = " ".join(map(str, end.dealer_cards))
        assert end.text == f"you {kind} {end.player_sum} dealer {dealer} {end.result}"


def test_the_hidden_card_is_nowhere_before_the_end(table: Table) -> None:
    seen = table.reset(seed=11).observation
    assert len(seen.dealer_cards) == 1
    assert set(table.state().model_dump()) == {"episode_id", "step_count", "seed", "finished"}
    assert len(table.step(STAND).observation.dealer_cards) > 1


def test_a_seed_deals_the_same_game(table: Table) -> None:
    first, second = (_play(table, seed=5) for _ in range(2))
    assert first == second
    assert first[0].metadata["seed"] == 5
    assert len({_play(table, seed=seed)[0].text for seed in range(30)}) > 10


def test_a_seed_settles_the_games_that_follow(table: Table) -> None:
    def run() -> list[list[BlackJackObservation]]:
        return [_play(table, seed=5)] + [_play(table) for _ in range(5)]

    games = run()
    assert run() == games
    seeds = [game[0].metadata["seed"] for game in games]
    assert len(set(seeds)) == len(seeds)
    assert _play(table, seed=seeds[-1]) == games[-1]


def test_games_without_a_seed_differ(table: Table) -> None:
    table.reset()
    first = table.state().seed
    table.reset()
    assert table.state().seed != first


def test_a_step_after_the_end_changes_nothing(table: Table) -> None:
    table.reset(seed=1)
    end = table.step(STAND)
    after = table.step(HIT)
    assert after.done
    assert after.reward == 0.0
    assert "reset()" in after.observation.metadata["error"]
    ignored = {"reward", "metadata", "text"}
    assert after.observation.model_dump(exclude=ignored) == end.observation.model_dump(
        exclude=ignored
    )
    assert table.state().step_count == 1


def test_a_step_before_the_first_deal_is_refused(table: Table) -> None:
    with pytest.raises(errors.ResetRequired, match="reset"):
        table.step(STAND)
    table.reset(seed=1)
    assert table.step(STAND).done


def test_the_state_names_the_episode(table: Table) -> None:
    table.reset(seed=3, episode_id="game 3")
    assert (table.state().episode_id, table.state().step_count) == ("game 3", 0)
    assert (table.state().seed, table.state().finished) == (3, False)
    table.step(STAND)
    assert (table.state().step_count, table.state().finished) == (1, True)


def test_an_unknown_move_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="move"):
        BlackJackAction(move="double")  # type: ignore[arg-type]


def test_the_server_refuses_an_unknown_move_by_name(table: Table) -> None:
    table.reset(seed=1)
    with pytest.raises(InvalidRequest, match="move") as refusal:
        table.step({"move": "double"})  # type: ignore[arg-type]
    assert refusal.value.errors[0]["loc"] == ["move"]
    assert table.state().step_count == 0
    assert table.step(STAND).done


def test_sessions_draw_from_streams_of_their_own(blackjack_url: str) -> None:
    with (
        BlackJackEnv(base_url=blackjack_url).sync() as one,
        BlackJackEnv(base_url=blackjack_url).sync() as other,
    ):
        one.reset(seed=5)
        other.reset(seed=9)
        mixed = []
        for _ in range(5):
            mixed.append(one.reset().observation)
            other.reset()
        one.reset(seed=5)
        assert [one.reset().observation for _ in range(5)] == mixed


def _play(table: Table, **options: int) -> list[BlackJackObservation]:
    """Everything seen in a game of a player who plays like the dealer."""
    result = table.reset(**options)
    seen = [result.observation]
    while not result.done:
        result = table.step(HIT if result.observation.player_sum < 17 else STAND)
        seen.append(result.observation)
    return seen


def test_a_page_shows_the_open_cards_and_what_can_be_done() -> None:
    environment = BlackJackEnvironment()
    seen = environment.reset(seed=7)
    shown = view_of(environment, seen)
    assert shown.classes.count("card") == 3 and shown.classes.count("card back") == 1
    assert shown.labels[0].endswith(", and a card that lies face down")
    assert f"{seen.player_sum}" in shown.words
    assert buttons_of(environment, seen) == [
        ("hit", {"move": "hit"}, "h"),
        ("stand", {"move": "stand"}, "s"),
    ]
    seen = environment.step(STAND)
    shown = view_of(environment, seen)
    assert shown.classes.count("card") == len(seen.player_cards + seen.dealer_cards)
    assert "card back" not in shown.classes
    assert any(shown.words.endswith(how) for how in ("You win.", "A draw.", "The dealer wins."))
    assert buttons_of(environment, seen) == []


def test_the_text_says_that_the_game_is_over() -> None:
    environment = BlackJackEnvironment()
    environment.reset(seed=7)
    end, after = environment.step(STAND), environment.step(STAND)
    assert after.text == f"Refused: {after.metadata['error']}\n{end.text}"
