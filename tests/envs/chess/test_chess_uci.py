"""UCI engines: Stockfish, and engines that do not do as they should."""

import json
import os
import random
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("chess", reason="pip install -e 'envs/chess_env[dev]'")

from chess_env import ChessAction, ChessEnv, ChessObservation
from chess_env.models import START
from chess_env.server import ChessEnvironment, uci
from chess_env.server.uci import EngineFault, UciEngine, find_engine
from openenv import create_app, errors, local
from openenv.testing import serving
from tests.serving import eventually

Engine = Callable[..., str]
Opened = Callable[..., ChessEnvironment]

# An engine of a few lines; what it does when it is asked for a move is filled in.
SCRIPT = """\
    #!/usr/bin/env python3
    import os, subprocess, sys, time
    for line in sys.stdin:
        words = line.split()
        if words[0] == "uci":
            print("id name Test\\noption name Skill Level type spin default 20\\nuciok", flush=True)
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "go":
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Writes an engine that does that when it is to move; its path."""

    def written(move: str, script: str = SCRIPT) -> str:
        path = tmp_path / "engine"
        path.write_text(textwrap.dedent(script) + textwrap.indent(textwrap.dedent(move), " " * 8))
        path.chmod(0o755)
        return str(path)

    return written


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Makes environments that are closed at the end."""
    made: list[ChessEnvironment] = []

    def environment(**options: Any) -> ChessEnvironment:
        made.append(ChessEnvironment(**options))
        return made[-1]

    yield environment
    for each in made:
        each.close()


@pytest.fixture
def stockfish() -> str:
    """Where Stockfish is."""
    try:
        return find_engine("stockfish", "")
    except EngineFault:
        pytest.skip("no Stockfish: apt-get install stockfish")


def play(env: ChessEnvironment, moves: int = 3, **options: Any) -> list[ChessObservation]:
    """What is seen in the first moves of a game as white."""
    seen = [env.reset(seed=2, agent_color="white", **options)]
    for _ in range(moves):
        seen.append(env.step(ChessAction(move=seen[-1].legal_moves[0])))
    return seen


# --- a real engine ------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_stockfish_plays_the_same_game_twice(stockfish: str, opened: Opened) -> None:
    games = [play(opened(opponent="stockfish", opponent_depth=4), moves=6) for _ in range(2)]
    assert games[0] == games[1]
    assert "opponent_error" not in games[0][-1].metadata


@pytest.mark.timeout(60)
def test_stockfish_beats_chance(stockfish: str) -> None:
    chance = random.Random(1)
    with local(ChessEnvironment, client_class=ChessEnv).sync() as board:
        result = board.reset(opponent="stockfish", opponent_depth=5, agent_color="black")
        while not result.done:
            result = board.step(ChessAction(move=chance.choice(result.observation.legal_moves)))
        assert (result.reward, result.observation.result) == (-1.0, "1-0")


@pytest.mark.timeout(60)
def test_a_skill_makes_stockfish_weaker(stockfish: str, opened: Opened) -> None:
    env = opened(opponent="stockfish", opponent_skill=0)
    assert "opponent_error" not in play(env, opponent_depth=1)[-1].metadata


@pytest.mark.timeout(60)
def test_sessions_have_engines_of_their_own_and_take_them_along(
    stockfish: str, opened: Opened
) -> None:
    before = children()
    envs = [opened(opponent="stockfish", opponent_depth=1) for _ in range(3)]
    for env in envs:
        play(env)
    engines = children() - before
    assert len(engines) == 3
    play(envs[0])
    assert children() - before == engines
    for env in envs:
        env.close()
        env.close()
    assert children() == before


def children() -> set[int]:
    """The processes that this one has started and that are still there."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == os.getpid():
                found.add(int(stat.parent.name))
    return found


# --- engines that fail --------------------------------------------------------------------------

FAULTS = {
    "ends": ("sys.exit(3)", "ended with exit code 3"),
    "is killed": ("os.kill(os.getpid(), 9)", "ended with exit code -9"),
    "hangs": ("time.sleep(600)", "did not answer in time"),
    "closes its output": ("os.close(1); time.sleep(600)", "closed its output"),
    "plays what is illegal": ("print('bestmove e2e5', flush=True)", "'e2e5', which is not legal"),
    "resigns": ("print('bestmove (none)', flush=True)", "'(none)', which is not legal"),
    "says nothing": ("print('bestmove', flush=True)", "'', which is not legal"),
    "talks": ("while True: print('info depth 1', flush=True)", "did not answer in time"),
    "raves": ("while True: sys.stdout.write('x' * 65536)", "no line of UCI"),
    "stammers": (
        "os.write(1, b'\\xff\\xfe\\x00 bestmove e7e5\\n'); time.sleep(600)",
        "did not answer in time",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_built_in_engine_plays_on_for_one_that_fails(
    fault: str, engine: Engine, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "GRACE_S", 0.2)
    does, told = FAULTS[fault]
    env = opened(opponent="uci", uci_path=engine(does), opponent_timeout_s=0.2, opponent_depth=1)
    seen = play(env)
    assert told in seen[-1].metadata["opponent_error"]
    assert "plays on" in seen[-1].metadata["opponent_error"]
    assert len(env.state.move_history) == 6
    assert env.reset(agent_color="white").metadata.get("opponent_error") is None


def test_a_failed_engine_is_killed_with_what_it_started(
    engine: Engine, opened: Opened, tmp_path: Path
) -> None:
    child = tmp_path / "child"
    does = f"""\
        child = subprocess.Popen(["sleep", "600"])
        open({str(child)!r}, "w").write(str(child.pid))
        print("bestmove a1a1", flush=True)
        """
    play(opened(opponent="uci", uci_path=engine(does), opponent_depth=1), moves=1)
    eventually(lambda: not _lives_or_waits(int(child.read_text())))


def _lives_or_waits(pid: int) -> bool:
    """Whether it is a process that nobody has killed; one that is dead may wait to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_engine_that_plays_well_is_asked_as_uci_says(
    engine: Engine, opened: Opened, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    script = SCRIPT.replace(
        "words = line.split()", f"words = line.split(); open({str(heard)!r}, 'a').write(line)"
    )
    path = engine("print('info score cp 1\\nbestmove e7e5 ponder g1f3', flush=True)", script)
    env = opened(opponent="uci", uci_path=path, opponent_skill=7, opponent_nodes=99)
    env.reset(agent_color="white")
    seen = env.step(ChessAction(move="e2e4"), timeout_s=1.5)
    assert seen.metadata.get("opponent_error") is None
    assert env.state.move_history == ["e2e4", "e7e5"]
    assert heard.read_text().splitlines() == [
        "uci",
        "setoption name Skill Level value 7",
        "ucinewgame",
        "isready",
        f"position fen {START} moves e2e4",
        "go depth 2 nodes 99 movetime 1500",
    ]


def test_the_callers_patience_is_the_engines(engine: Engine, opened: Opened) -> None:
    env = opened(opponent="uci", uci_path=engine("time.sleep(600)"), opponent_depth=1)
    env.reset(agent_color="white")
    seen = env.step(ChessAction(move="e2e4"), timeout_s=0.1)
    assert "did not answer in time" in seen.metadata["opponent_error"]


def test_a_request_says_how_long_the_engine_thinks_and_a_client_how_long_it_waits(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = tmp_path / "heard"
    does = f"open({str(heard)!r}, 'a').write(words[-1] + ' '); print('bestmove e7e5', flush=True)"
    monkeypatch.setenv("CHESS_OPPONENT", "uci")
    monkeypatch.setenv("CHESS_UCI_PATH", engine(does))
    monkeypatch.setenv("CHESS_AGENT_COLOR", "white")
    app = create_app(ChessEnvironment, ChessAction, ChessObservation, env_name="chess_env")
    with serving(app) as url:
        _post(f"{url}/reset", {})
        _post(f"{url}/step", {"action": {"move": "e2e4"}, "timeout_s": 7})
        with ChessEnv(base_url=url).sync() as client:
            client.reset()
            client.step(ChessAction(move="e2e4"), timeout_s=7)
    assert heard.read_text().split() == ["7000", "10000"]


def _post(url: str, asked: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    urlopen(Request(url, json.dumps(asked).encode(), headers), timeout=15).close()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("/nowhere/engine", "apt-get install stockfish"),
        ("/bin/true", "ended with exit code 0"),
        ("/bin/cat", "did not answer in time"),
    ],
)
def test_what_is_no_engine_is_refused(
    program: str, told: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "START_S", 0.3)
    env = opened(opponent="none", uci_path=program)
    env.reset(seed=1)
    env.step(ChessAction(move="e2e4"))
    with pytest.raises(errors.ConfigurationError, match=told):
        env.reset(opponent="uci")
    assert env.state.move_history == ["e2e4"]


def test_a_file_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    path.write_bytes(b"\x00\x01")
    path.chmod(0o755)
    with pytest.raises(EngineFault, match="does not start"):
        UciEngine(str(path))


def test_a_missing_stockfish_says_how_to_get_it(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(uci, "PLACES", str(tmp_path))
    with pytest.raises(errors.ConfigurationError, match="apt-get install stockfish"):
        opened(opponent="stockfish").reset()


def test_an_engine_that_died_between_games_is_started_again(engine: Engine, opened: Opened) -> None:
    path = engine("print('bestmove e7e5', flush=True)")
    env = opened(opponent="uci", uci_path=path, agent_color="white")
    before = children()
    env.reset()
    (first,) = children() - before
    os.kill(first, 9)
    env.reset()
    assert children() - before - {first}
    assert env.step(ChessAction(move="e2e4")).metadata.get("opponent_error") is None
