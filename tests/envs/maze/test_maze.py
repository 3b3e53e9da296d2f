"""The maze: what steps pay, how it ends, and what its options change."""

from collections.abc import Iterator

import pytest

from maze_env import MazeAction, MazeEnv
from maze_env.layouts import Layout, classic, drawn, is_free, leads
from maze_env.server import MazeEnvironment
from maze_env.server.app import app
from maze_env.trip import Trip
from openenv import errors
from openenv.testing import serving
from tests.markup import buttons_of, view_of

UP, DOWN, LEFT, RIGHT = range(4)
WAY_OUT = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app) as address:
        yield address


def shortest(maze: Layout, start: tuple[int, int], end: tuple[int, int]) -> list[int]:
    """The actions of a shortest way."""
    ways: dict[tuple[int, int], list[int]] = {start: []}
    queue = [start]
    for cell in queue:
        for action, (right, down) in WAY_OUT.items():
            to = (cell[0] + right, cell[1] + down)
            if is_free(maze, to) and to not in ways:
                ways[to] = [*ways[cell], action]
                queue.append(to)
    return ways[end]


def test_the_classic_maze_has_a_way_out(url: str) -> None:
    with MazeEnv(base_url=url).sync() as maze:
        result = maze.reset()
        seen = result.observation
        assert (seen.current_position, seen.previous_position) == ([0, 0], [0, 0])
        assert (seen.exit_cell, result.reward, result.done) == ([7, 7], 0.0, False)
        assert seen.maze == classic() == seen.metadata["maze"]
        way = shortest(seen.maze, (0, 0), (7, 7))
        for action in way[:-1]:
            result = maze.step(MazeAction(action=action))
            assert (result.reward, result.done) == (-0.05, False)
        before = result.observation.current_position
        result = maze.step(MazeAction(action=way[-1]))
        assert (result.reward, result.done, result.observation.status) == (10.0, True, "win")
        assert result.observation.legal_actions == []
        assert result.observation.previous_position == before
        assert {"status": "win", "exit_cell": [7, 7], "step": len(way)}.items() <= (
            result.observation.metadata.items()
        )
        state = maze.state()
        assert (state.done, state.status, state.step_count) == (True, "win", len(way))
        assert state.current_position == state.exit_cell == [7, 7]


def test_each_cell_pays_once() -> None:
    trip = Trip([[0, 0, 0], [1, 1, 0]], (0, 0), (2, 1))
    assert trip.step(UP) == -0.75
    assert trip.step(DOWN) == -0.75
    assert trip.previous == (0, 0)
    assert trip.step(RIGHT) == -0.05
    assert trip.step(LEFT) == -0.05  # the start counts as new when it is first come to
    assert trip.step(RIGHT) == -0.25
    assert trip.step(LEFT) == -0.25
    assert trip.previous == (1, 0)


def test_legal_actions_are_listed_left_right_up_down() -> None:
    trip = Trip([[0, 0, 0], [0, 0, 0], [0, 0, 0]], (1, 1), (2, 2))
    assert trip.legal_actions == [LEFT, RIGHT, UP, DOWN]
    assert Trip(classic(), (0, 0), (7, 7)).legal_actions == [RIGHT]


def test_who_pays_too_much_has_lost() -> None:
    environment = MazeEnvironment()
    environment.reset()
    total, seen = 0.0, environment.step(MazeAction(action=UP))
    while not seen.done:
        total += seen.reward or 0.0
        assert seen.status == "playing"
        assert total >= -32
        seen = environment.step(MazeAction(action=UP))
    assert (seen.status, total + (seen.reward or 0.0)) == ("lose", -32.25)
    after = environment.step(MazeAction(action=RIGHT))
    assert (after.current_position, after.reward, after.done) == ([0, 0], 0.0, True)


def test_a_blocked_step_says_what_is_legal() -> None:
    environment = MazeEnvironment()
    environment.reset()
    seen = environment.step(MazeAction(action=LEFT))
    assert (seen.current_position, seen.reward) == ([0, 0], -0.75)
    assert seen.metadata["error"] == "2 is blocked; legal are 3"
    assert seen.text.startswith("Refused: 2 is blocked; legal are 3\nA.#.....\n")
    assert not environment.step(MazeAction(action=RIGHT)).text.startswith("Refused")


def test_the_text_alone_is_enough_to_play() -> None:
    environment = MazeEnvironment()
    lines = environment.reset().text.splitlines()
    assert lines[8] == "playing, at [0, 0], exit [7, 7]"
    assert lines[9].startswith("You are A; go to E. # is a wall")
    assert lines[10:] == ["Legal actions: 3 right"]


@pytest.mark.parametrize("options", [{}, {"layout": [[0, 0], [1, 0]]}])
def test_a_size_that_would_have_no_effect_is_refused(options: dict[str, object]) -> None:
    environment = MazeEnvironment()
    with pytest.raises(errors.InvalidRequest, match="size=9 is of maze='random' alone"):
        environment.reset(None, None, size=9, **options)


def test_a_start_cell_is_taken_as_json_has_it(url: str) -> None:
    with MazeEnv(base_url=url).sync() as maze:
        seen = maze.reset(start_cell=[5, 4]).observation
        assert (seen.current_position, seen.previous_position) == ([5, 4], [5, 4])
        assert maze.reset().observation.current_position == [0, 0]
        with pytest.raises(errors.InvalidRequest, match=r"start_cell \[2, 0\] is no free"):
            maze.reset(start_cell=[2, 0])
        with pytest.raises(errors.InvalidRequest, match="there is no way"):
            maze.reset(start_cell=[7, 7])


def test_a_layout_of_ones_own_can_be_walked() -> None:
    environment = MazeEnvironment()
    seen = environment.reset(layout=[[0, 0, 1], [1, 0, 0]])
    assert seen.text.splitlines()[:2] == ["A.#", "#.E"]
    for action in (RIGHT, DOWN, RIGHT):
        seen = environment.step(MazeAction(action=action))
    assert (seen.status, seen.reward) == ("win", 10.0)


@pytest.mark.parametrize("size", [5, 7, 15, 31])
def test_every_cell_of_a_drawn_maze_can_be_reached(size: int) -> None:
    for seed in range(10):
        maze = drawn(size, seed)
        assert {len(row) for row in maze} == {len(maze)} == {size}
        cells = [(x, y) for y in range(size) for x in range(size) if not maze[y][x]]
        assert (size - 1, size - 1) in cells
        assert all(leads(maze, (0, 0), cell) for cell in cells)


def test_a_seed_settles_a_drawn_maze() -> None:
    assert drawn(9, 3) == drawn(9, 3)
    assert len({str(drawn(9, seed)) for seed in range(50)}) == 50


def test_a_refused_reset_leaves_the_episode() -> None:
    environment = MazeEnvironment()
    begun = environment.reset(maze="random", seed=1)
    seen = environment.step(MazeAction(action=begun.legal_actions[0]))
    with pytest.raises(errors.InvalidRequest, match="no free"):
        environment.reset(maze="random", start_cell=[1, 1])
    assert environment.state.current_position == seen.current_position
    assert environment.state.step_count == 1


def test_a_page_shows_the_maze_and_the_ways() -> None:
    environment = MazeEnvironment()
    begun = environment.reset()
    shown = view_of(environment, begun)
    assert shown.labels == [
        "A maze of 8 rows and 8 columns. You are in row 1, column 1, the way out is in row 8, "
        "column 8; you can go right."
    ]
    assert shown.classes.count("wall") == sum(map(sum, begun.maze))
    assert buttons_of(environment, begun) == [("right", {"action": RIGHT}, "ArrowRight")]
    seen = environment.step(MazeAction(action=RIGHT))
    assert view_of(environment, seen).classes.count("been") == 1


def test_what_is_done_to_an_observation_changes_no_maze() -> None:
    environment = MazeEnvironment()
    seen = environment.reset()
    for maze in (seen.maze, seen.metadata["maze"]):
        maze[0][0] = 1
    assert environment.step(MazeAction(action=RIGHT)).maze == classic()
