"""The grid world: the published walk, and what its options change."""

from collections.abc import Iterator

import pytest

from grid_world_env import GridWorldAction, GridWorldEnv, MoveAction
from grid_world_env.server import GridWorldEnvironment
from grid_world_env.server.app import app
from grid_world_env.server.grid_world_environment import GridWorldOptions
from grid_world_env.walk import Walk
from openenv.testing import serving
from tests.markup import buttons_of, view_of

UP, DOWN, LEFT, RIGHT = MoveAction


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app) as address:
        yield address


def test_the_published_walk(url: str) -> None:
    with GridWorldEnv(base_url=url).sync() as grid:
        result = grid.reset()
        seen = result.observation
        assert (seen.x, seen.y, result.done, result.reward) == (0, 0, False, 0.0)
        assert seen.message == "Welcome to Grid World! Goal is at [4, 4]."
        for move in [DOWN] * 4 + [RIGHT] * 3:
            result = grid.step(GridWorldAction(action=move))
            assert (result.observation.message, result.reward) == ("Keep going...", -0.1)
        result = grid.step(GridWorldAction(action=RIGHT))
        seen = result.observation
        assert (seen.x, seen.y, result.done, result.reward) == (4, 4, True, 1.0)
        assert seen.message == "You found the goal!"
        assert (seen.done, seen.reward) == (True, 1.0)
        state = grid.state()
        assert (state.step_count, state.x, state.y, state.goal) == (8, 4, 4, [4, 4])


def test_a_move_alone_can_be_sent(url: str) -> None:
    with GridWorldEnv(base_url=url).sync() as grid:
        grid.reset()
        result = grid.step_move(MoveAction.RIGHT)
        assert (result.observation.x, result.observation.y) == (0, 1)


@pytest.mark.parametrize(
    ("move", "at"), [(UP, (1, 2)), (DOWN, (3, 2)), (LEFT, (2, 1)), (RIGHT, (2, 3))]
)
def test_up_and_down_change_x(move: MoveAction, at: tuple[int, int]) -> None:
    walk = Walk(5, "corners", 0)
    walk.at = (2, 2)
    assert walk.move(move) == -0.1
    assert walk.at == at


def test_the_edge_holds_the_walker() -> None:
    walk = Walk(5, "corners", 0)
    assert [walk.move(UP), walk.move(LEFT)] == [-0.1, -0.1]
    assert walk.at == (0, 0)
    walk.at = (4, 0)
    walk.move(DOWN)
    assert walk.at == (4, 0)


def test_the_text_shows_the_grid() -> None:
    seen = GridWorldEnvironment(GridWorldOptions(size=3)).reset()
    lines = seen.text.splitlines()
    assert lines[1:4] == ["A . .", ". . .", ". . G"]
    assert lines[4].startswith("You are A; go to G.")
    assert lines[5:] == ["Actions: UP, DOWN, LEFT, RIGHT"]
    assert seen.grid == [[1, 0, 0], [0, 0, 0], [0, 0, 2]]
    assert seen.goal == [2, 2]


def test_the_text_says_that_the_walk_is_over() -> None:
    environment = GridWorldEnvironment()
    environment.reset(max_steps=1)
    end = environment.step(GridWorldAction(action=UP))
    after = environment.step(GridWorldAction(action=UP))
    assert after.text == f"Refused: {after.metadata['error']}\n{end.text}"


def test_random_places_are_two_cells_of_the_seed() -> None:
    places = set()
    for seed in range(200):
        walk = Walk(3, "random", seed)
        assert walk.at != walk.goal
        places.add((walk.at, walk.goal))
    assert len(places) > 50


def test_a_limit_truncates_a_walk() -> None:
    environment = GridWorldEnvironment()
    environment.reset(max_steps=2)
    assert not environment.step(GridWorldAction(action=UP)).done
    last = environment.step(GridWorldAction(action=UP))
    assert (last.done, last.truncated, last.reward) == (True, True, -0.1)
    after = environment.step(GridWorldAction(action=DOWN))
    assert (after.x, after.done, after.reward) == (0, True, 0.0)


def test_a_goal_at_the_limit_is_no_truncation() -> None:
    environment = GridWorldEnvironment()
    environment.reset(size=2, max_steps=2)
    environment.step(GridWorldAction(action=DOWN))
    last = environment.step(GridWorldAction(action=RIGHT))
    assert (last.done, last.truncated, last.reward) == (True, False, 1.0)


def test_without_a_limit_a_walk_goes_on() -> None:
    environment = GridWorldEnvironment()
    environment.reset()
    for _ in range(2000):
        assert not environment.step(GridWorldAction(action=UP)).done


def test_options_come_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRID_WORLD_SIZE", "7")
    environment = GridWorldEnvironment()
    assert environment.reset().goal == [6, 6]
    assert environment.reset(size=4).goal == [3, 3]
    assert environment.reset().goal == [6, 6]


def test_a_page_shows_the_grid_and_the_moves() -> None:
    environment = GridWorldEnvironment()
    begun = environment.reset(size=2)
    shown = view_of(environment, begun)
    assert shown.labels == [
        "A grid of 2 rows and columns. You are in row 1, column 1; the goal is in row 2, column 2."
    ]
    assert [kind for kind in shown.classes if kind in ("agent", "goal")] == ["agent", "goal"]
    assert buttons_of(environment, begun) == [
        ("up", {"action": "UP"}, "ArrowUp"),
        ("down", {"action": "DOWN"}, "ArrowDown"),
        ("left", {"action": "LEFT"}, "ArrowLeft"),
        ("right", {"action": "RIGHT"}, "ArrowRight"),
    ]
    environment.reset(max_steps=1)
    end = environment.step(GridWorldAction(action=UP))
    assert end.truncated
    assert buttons_of(environment, end) == []
