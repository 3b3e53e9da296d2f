"""What a language model reads, and what may not be read by anybody."""

import random

import pytest

from openspiel_env import OpenSpielAction, OpenSpielObservation, tic_tac_toe
from openspiel_env.blackjack import Table, name, total, value

pytest.importorskip("pyspiel", reason="pip install -e 'envs/openspiel_env[dev]'")

from openspiel_env.server import OpenSpielEnvironment
from openspiel_env.server.seats import SIDES


def act(env: OpenSpielEnvironment, action: int) -> OpenSpielObservation:
    """One step."""
    return env.step(OpenSpielAction(action_id=action))


def test_cards_have_names_and_values() -> None:
    assert [name(card) for card in (0, 9, 12, 13, 51)] == ["CA", "CT", "CK", "DA", "SK"]
    assert [value(card) for card in (0, 8, 9, 12, 13)] == [1, 9, 10, 10, 1]


@pytest.mark.parametrize(
    ("cards", "counts"),
    [
        ([0, 13], (12, True)),
        ([0, 9], (21, True)),
        ([9, 12, 0], (21, False)),
        ([0, 5, 9], (17, False)),
        ([9, 10, 11], (30, False)),
        ([], (0, False)),
    ],
)
def test_an_ace_counts_eleven_where_that_is_no_bust(
    cards: list[int], counts: tuple[int, bool]
) -> None:
    assert total(cards) == counts


def test_blackjack_s_numbers_are_its_cards() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    for seed in range(60):
        seen = env.reset(seed=seed)
        while not seen.done:
            table = Table.read(seen.info_state)
            points, soft = table.total()
            thermometer = seen.info_state[3:33]
            assert thermometer == [1.0] * (points + 1) + [0.0] * (29 - points)
            assert seen.info_state[:3] == [0, 1, 0]
            kind = "soft" if soft else "hard"
            up_card = value(table.dealer[0])
            assert seen.text.startswith(f"you {kind} {points} dealer {up_card} act\n")
            assert f"your cards {' '.join(map(name, table.player))}," in seen.text
            seen = act(env, int(points >= 15))


def test_the_dealer_s_second_card_is_nowhere_before_the_end() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    for seed in range(40):
        seen = env.reset(seed=seed)
        shown = Table.read(seen.info_state)
        assert len(shown.dealer) == 1
        assert sum(seen.info_state[33:85]) == sum(seen.info_state[137:189]) == 1
        assert seen.text.split("\n")[1].endswith(f"dealer's cards {name(shown.dealer[0])} ??")
        assert "info_state" not in env.state.model_dump()
        end = act(env, 1)
        opened = Table.read(end.info_state)
        assert opened.dealer[0] == shown.dealer[0]
        assert len(opened.dealer) >= 2
        assert "??" not in end.text
        assert end.text.split("\n")[-1] == f"over, you got {end.reward:g}"


def test_games_of_one_seed_deal_the_same_cards_whatever_is_done() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    compared = 0
    for seed in range(60):
        hands = {}
        for hits in (0, 1, 2):
            seen = env.reset(seed=seed)
            for _ in range(hits):
                seen = act(env, 0) if not seen.done else seen
            busted = seen.done
            seen = seen if busted else act(env, 1)
            if not busted:
                hands[hits] = Table.read(seen.info_state)
        if len(hands) == 3:
            compared += 1
            assert len({table.dealer for table in hands.values()}) == 1
            assert set(hands[0].player) < set(hands[1].player) < set(hands[2].player)
    assert compared > 10


def test_blackjack_s_results_are_in_its_text() -> None:
    env = OpenSpielEnvironment(game_name="blackjack")
    ends = set()
    for seed in range(40):
        env.reset(seed=seed)
        end = act(env, 1)
        ends.add((end.text.split("\n")[0].split()[-1], end.reward))
    assert ends == {("win", 1.0), ("push", 0.0), ("lose", -1.0)}


def test_other_numbers_are_no_table_and_no_board() -> None:
    with pytest.raises(ValueError, match="189 numbers, got 3"):
        Table.read([0, 1, 0])
    with pytest.raises(ValueError, match="27 numbers, got 0"):
        tic_tac_toe.board([])


def test_x_and_o_are_who_they_are() -> None:
    env = OpenSpielEnvironment(game_name="tic_tac_toe", opponent_policy="last")
    env.reset(seed=1)
    seen = act(env, 0)
    assert seen.opponent_last_action == 8
    assert seen.info_state[9 + 8] == seen.info_state[18 + 0] == 1.0
    assert tic_tac_toe.board(seen.info_state) == "x . .\n. . .\n. . o"
    assert seen.text.split("\n")[:4] == ["you are x", "x . .", ". . .", ". . o"]
    assert seen.text.endswith(
        "actions: " + ", ".join(f"{cell} x({cell // 3},{cell % 3})" for cell in range(1, 8))
    )


def test_kuhn_poker_shows_one_s_own_card_alone() -> None:
    env = OpenSpielEnvironment(game_name="kuhn_poker")
    views = {}
    for seed in range(60):
        seen = env.reset(seed=seed)
        views[seen.text] = seen.model_dump(exclude={"metadata"})
        assert views[seen.text]["info_state"][2:5].count(1.0) == 1
        assert seen.model_dump(exclude={"metadata"}) == views[seen.text]
    assert len(views) == 3, "six deals, and three cards of one's own"
    assert all("moves: none\nactions: 0 Pass, 1 Bet" in text for text in views)


def test_kuhn_poker_tells_the_bets() -> None:
    env = OpenSpielEnvironment(game_name="kuhn_poker", agent_player=1, opponent_policy="last")
    seen = env.reset(seed=1)
    assert "you are player 1, your card is" in seen.text
    assert "moves: bet" in seen.text
    assert seen.opponent_last_action == 1


def test_a_board_of_2048_is_four_rows() -> None:
    seen = OpenSpielEnvironment(game_name="2048").reset(seed=2)
    rows = [list(map(float, row.split())) for row in seen.text.split("\n")[1:5]]
    assert sum(rows, []) == seen.info_state


def test_catch_shows_ball_and_paddle() -> None:
    seen = OpenSpielEnvironment(game_name="catch").reset(seed=2)
    assert seen.text.startswith("o falls, you are x; be below it at the end")
    grid = seen.text.split("\n")[1:11]
    assert [cell != "." for row in grid for cell in row] == [bool(n) for n in seen.info_state]


def test_the_walker_is_told_where_it_is() -> None:
    env = OpenSpielEnvironment(game_name="cliff_walking")
    env.reset()
    for action, place in ((1, "row 2, column 0"), (0, "row 2, column 1"), (1, "row 1, column 1")):
        seen = act(env, action)
        assert place in seen.text
        assert "a step pays -1, the cliff -100" in seen.text


@pytest.mark.parametrize(
    ("game", "seat", "told"),
    [
        ("chess", 0, "you are player 0 (black); the game pays -1 to 1\n"),
        ("chess", 1, "you are player 1 (white); the game pays -1 to 1\n"),
        ("go", 0, "you are player 0 (black, X);"),
        ("havannah", 1, "you are player 1 (@);"),
        ("goofspiel", 1, "you are player 1; the game pays -1 to 1\n"),
        ("2048", 0, "you play alone; the game pays 0 to 20480\n"),
    ],
)
def test_the_agent_is_told_which_side_is_its_own(game: str, seat: int, told: str) -> None:
    seen = OpenSpielEnvironment(game_name=game, agent_player=seat).reset(seed=1)
    assert seen.text.startswith(told)


@pytest.mark.parametrize("game", SIDES)
def test_whoever_has_a_side_is_told_so(game: str) -> None:
    env = OpenSpielEnvironment(game_name=game, agent_player=1)
    assert env.reset(seed=1).text.startswith(f"you are player 1 ({SIDES[game][1]}); ")
    assert env.state.num_players == len(SIDES[game])


def test_what_a_matrix_game_pays_is_told_from_one_s_own_seat() -> None:
    told = [
        OpenSpielEnvironment(game_name="matrix_bos", agent_player=seat).reset(seed=1).text
        for seat in (0, 1)
    ]
    assert "\nBach: 3, 2 against Bach; 0, 0 against Stravinsky\n" in told[0]
    assert "\nBach: 2, 3 against Bach; 0, 0 against Stravinsky\n" in told[1]
    for own, other, paid in ((0, "Defect", 0), (1, "Cooperate", 10)):
        env = OpenSpielEnvironment(
            game_name="matrix_pd", opponent_policy="last" if other == "Defect" else "first"
        )
        line = env.reset(seed=1).text.splitlines()[2 + own]
        assert f"{paid}, {10 - paid} against {other}" in line
        assert act(env, own).reward == paid


def test_forty_moves_are_listed_at_most() -> None:
    seen = OpenSpielEnvironment(game_name="go").reset(seed=1)
    assert seen.text.endswith(f" and {len(seen.legal_actions) - 40} more")
    assert seen.text.count(" B ") == 40


GOOFSPIEL = {"num_cards": 4, "points_order": "descending"}


@pytest.mark.parametrize(
    ("game", "parameters"), [("matrix_pd", {}), ("matrix_rps", {}), ("goofspiel", GOOFSPIEL)]
)
def test_nobody_sees_a_move_that_is_made_at_the_same_time(
    game: str, parameters: dict[str, object]
) -> None:
    env = OpenSpielEnvironment(game_name=game, game_params=parameters, agent_player=1)
    views = [env.reset(seed=seed).model_dump(exclude={"metadata"}) for seed in range(12)]
    assert all(view == views[0] for view in views)
    assert views[0]["opponent_last_action"] is None


@pytest.mark.parametrize(
    ("game", "parameters"),
    [("phantom_ttt", {}), ("dark_hex", {}), ("goofspiel", {"num_cards": 4, "imp_info": True})],
)
def test_moves_that_the_agent_cannot_see_are_not_told(
    game: str, parameters: dict[str, object]
) -> None:
    env = OpenSpielEnvironment(game_name=game, game_params=parameters)
    for seed in range(20):
        chance = random.Random(seed)
        seen = env.reset(seed=seed)
        while not seen.done:
            assert seen.opponent_last_action is None
            seen = act(env, chance.choice(seen.legal_actions))
