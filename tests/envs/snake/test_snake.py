"""The snake: how it moves, eats, dies and wins."""

import random
from collections import deque
from collections.abc import Iterator

import pytest

from openenv.testing import serving
from snake_env import SnakeAction, SnakeEnv
from snake_env.arena import BODY, EMPTY, FRUIT, HEAD, HEADINGS, TAIL, WALL, Arena
from snake_env.server import SnakeEnvironment
from snake_env.server.app import app
from tests.markup import buttons_of, view_of

STRAIGHT, LEFT, RIGHT = range(3)
AHEAD = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(app) as address:
        yield address


def arena_of(*lines: str, heading: str = "right") -> Arena:
    """A field with a snake whose cells are numbered from its head."""
    arena = Arena(len(lines), len(lines[0]), 1, seed=1)
    numbered = {}
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            arena.grid[row][column] = {"#": WALL, "*": FRUIT, ".": EMPTY}.get(letter, BODY)
            if letter.isdigit():
                numbered[int(letter)] = (row, column)
    arena.snake = deque(numbered[index] for index in sorted(numbered))
    arena.grid[arena.snake[0][0]][arena.snake[0][1]] = HEAD
    arena.grid[arena.snake[-1][0]][arena.snake[-1][1]] = TAIL
    arena.heading = HEADINGS.index(heading)
    return arena


def test_a_snake_begins_straight_with_room_ahead() -> None:
    begun = set()
    for seed in range(300):
        arena = Arena(6, 7, 1, seed)
        assert len(arena.snake) == 3
        kinds = [arena.grid[row][column] for row, column in arena.snake]
        assert kinds == [HEAD, BODY, TAIL]
        assert sum(row.count(FRUIT) for row in arena.grid) == 1
        down, right = AHEAD[HEADINGS[arena.heading]]
        row, column = arena.snake[0]
        assert arena.snake[1] == (row - down, column - right)
        assert arena.grid[row + down][column + right] in (EMPTY, FRUIT)
        begun.add((*arena.snake, arena.heading))
    assert len(begun) > 20


def test_the_wall_is_around_the_field() -> None:
    grid = Arena(6, 8, 1, 1).grid
    assert [len(grid), len(grid[0])] == [6, 8]
    edge = grid[0] + grid[-1] + [cell for row in grid for cell in (row[0], row[-1])]
    assert set(edge) == {WALL}


@pytest.mark.parametrize(
    ("heading", "action", "new"),
    [
        ("up", STRAIGHT, "up"),
        ("up", LEFT, "left"),
        ("up", RIGHT, "right"),
        ("left", LEFT, "down"),
        ("left", RIGHT, "up"),
        ("down", LEFT, "right"),
        ("right", RIGHT, "down"),
    ],
)
def test_turns_are_as_seen_by_the_snake(heading: str, action: int, new: str) -> None:
    arena = arena_of("#######", "#.....#", "#.....#", "#..0..#", "#.21..#", "#.....#", "#######")
    arena.heading = HEADINGS.index(heading)
    arena.grid[4][3] = EMPTY
    assert arena.step(action) == 0.001
    down, right = AHEAD[new]
    assert arena.snake[0] == (3 + down, 3 + right)
    assert HEADINGS[arena.heading] == new


def test_a_fruit_makes_it_grow_and_another_one_appears() -> None:
    arena = arena_of("######", "#....#", "#210*#", "#....#", "######")
    assert arena.step(STRAIGHT) == 1.001
    assert list(arena.snake) == [(2, 4), (2, 3), (2, 2), (2, 1)]
    assert [arena.grid[2][column] for column in (1, 2, 3, 4)] == [TAIL, BODY, BODY, HEAD]
    assert sum(row.count(FRUIT) for row in arena.grid) == 1
    assert arena.eaten == 1


@pytest.mark.parametrize("heading", ["right", "up"])
def test_a_wall_is_the_end(heading: str) -> None:
    arena = arena_of("######", "#.210#", "#....#", "#...*#", "######", heading=heading)
    before = [list(row) for row in arena.grid]
    assert arena.step(STRAIGHT) == pytest.approx(-0.999)
    assert (arena.alive, arena.is_over) == (False, True)
    assert arena.grid == before


def test_its_own_body_is_the_end() -> None:
    arena = arena_of("######", "#.21.#", "#.30*#", "#.4..#", "######", heading="down")
    assert arena.step(RIGHT) == pytest.approx(-0.999)
    assert not arena.alive


def test_its_tail_makes_room() -> None:
    arena = arena_of("######", "#.21.#", "#.30*#", "#....#", "######", heading="down")
    assert arena.step(RIGHT) == 0.001
    assert list(arena.snake) == [(2, 2), (2, 3), (1, 3), (1, 2)]
    assert arena.alive


def test_a_full_field_is_won() -> None:
    arena = arena_of("######", "#3210#", "#....#", "#....#", "#..*.#", "######")
    ring = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (2, 3), (2, 2), (3, 2), (3, 3), (3, 4)]
    ring += [(4, 4), (4, 3), (4, 2), (4, 1), (3, 1), (2, 1)]
    rewards: list[float] = []
    while not arena.is_over and len(rewards) < 1000:
        row, column = arena.snake[0]
        to_row, to_column = ring[(ring.index((row, column)) + 1) % len(ring)]
        wanted = {way: name for name, way in AHEAD.items()}[to_row - row, to_column - column]
        turn = (HEADINGS.index(wanted) - arena.heading) % 4
        rewards.append(arena.step({0: STRAIGHT, 1: RIGHT, 3: LEFT}[turn]))
    assert (arena.won, arena.alive, arena.eaten) == (True, True, 12)
    assert rewards[-1] == pytest.approx(101.001)
    assert len(arena.snake) == 16
    assert "." not in arena.text()
    assert "*" not in arena.text()


def test_the_grid_agrees_with_the_snake_at_every_step() -> None:
    chance = random.Random(3)
    for seed in range(50):
        arena = Arena(8, 8, 3, seed)
        while not arena.is_over:
            arena.step(chance.randrange(3))
            drawn = {
                (row, column)
                for row, cells in enumerate(arena.grid)
                for column, cell in enumerate(cells)
                if cell in (HEAD, BODY, TAIL)
            }
            assert drawn == set(arena.snake)
            assert len(arena.snake) == 3 + arena.eaten == len(drawn)
            assert arena.grid[arena.snake[0][0]][arena.snake[0][1]] == HEAD
            assert arena.grid[arena.snake[-1][0]][arena.snake[-1][1]] == TAIL


def test_the_published_field(url: str) -> None:
    with SnakeEnv(base_url=url).sync() as snake:
        result = snake.reset(seed=4)
        seen = result.observation
        assert (len(seen.grid), len(seen.grid[0])) == (20, 20)
        assert {len(cell) for row in seen.observation for cell in row} == {8}
        assert (result.reward, result.done, seen.alive) == (0.0, False, True)
        total, steps = 0.0, 0
        while not result.done:
            result = snake.step(SnakeAction(action=STRAIGHT))
            total, steps = total + (result.reward or 0.0), steps + 1
        seen = result.observation
        assert (seen.alive, result.truncated, seen.episode_steps) == (False, False, steps)
        assert seen.episode_score == pytest.approx(total)
        assert seen.episode_kills == 0
        state = snake.state()
        assert (state.step_count, state.alive, state.seed) == (steps, False, 4)


def test_planes_say_what_the_grid_says() -> None:
    seen = SnakeEnvironment().reset(seed=1, height=7, width=9)
    for row, cells in zip(seen.grid, seen.observation, strict=True):
        for kind, planes in zip(row, cells, strict=True):
            assert planes == [float(plane == kind - 1) for plane in range(8)]
    assert SnakeEnvironment().reset(seed=1, planes=False).observation == []


def test_the_text_shows_the_field() -> None:
    seen = SnakeEnvironment().reset(seed=1, height=6, width=7)
    lines = seen.text.splitlines()
    assert lines[6] == f"heading {seen.heading}, 0 eaten, alive"
    letters = "".join(lines[:6])
    assert [letters.count(letter) for letter in "Ho*"] == [1, 2, 1]


def test_a_limit_truncates() -> None:
    environment = SnakeEnvironment()
    environment.reset(seed=1, max_steps=8)
    for _ in range(8):
        seen = environment.step(SnakeAction(action=LEFT))
    assert (seen.done, seen.truncated, seen.alive) == (True, True, True)
    after = environment.step(SnakeAction(action=LEFT))
    assert (after.grid, after.reward, after.done) == (seen.grid, 0.0, True)


def test_the_limit_is_a_thousand_steps() -> None:
    environment = SnakeEnvironment()
    seen = environment.reset(seed=1, planes=False)
    steps = 0
    while not seen.done:
        seen, steps = environment.step(SnakeAction(action=LEFT)), steps + 1
    assert (steps, seen.truncated) == (1000, True)


def test_a_page_shows_the_field_and_turns_by_arrows() -> None:
    environment = SnakeEnvironment()
    seen = environment.reset(seed=1)
    shown = view_of(environment, seen)
    assert shown.labels[0].startswith("A field of 20 rows and 20 columns. The snake's head is at ")
    assert (shown.classes.count("fruit"), shown.classes.count("snake head")) == (1, 1)
    keys = ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"]
    ahead = keys.index(f"Arrow{seen.heading.capitalize()}")
    assert buttons_of(environment, seen) == [
        ("straight on", {"action": STRAIGHT}, keys[ahead]),
        ("left", {"action": LEFT}, keys[ahead - 1]),
        ("right", {"action": RIGHT}, keys[(ahead + 1) % 4]),
    ]
    environment.reset(seed=1, max_steps=1)
    end = environment.step(SnakeAction(action=STRAIGHT))
    assert end.truncated
    assert buttons_of(environment, end) == []


def test_the_text_alone_is_enough_to_play() -> None:
    environment = SnakeEnvironment()
    lines = environment.reset(seed=1, max_steps=1).text.splitlines()
    assert "H is its head" in lines[-2]
    assert lines[-1].endswith("0 straight on, 1 left, 2 right")
    end = environment.step(SnakeAction(action=STRAIGHT))
    after = environment.step(SnakeAction(action=STRAIGHT))
    assert after.text == f"Refused: {after.metadata['error']}\n{end.text}"
