"""A chess engine in a process of its own, spoken to in the Universal Chess Interface."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

START_S = 15.0
GRACE_S = 2.0  # beyond its time for a move, before an engine counts as hung
STOP_S = 5.0
LONGEST_LINE = 1 << 20
# Debian and Homebrew put games where a service's PATH does not lead.
PLACES = os.pathsep.join(["/usr/games", "/usr/local/bin", "/opt/homebrew/bin"])
QUIET = {"Threads": 1, "Hash": 16}  # one thread plays the same game twice; MiB


class EngineFault(Exception):
    """An engine does not start, does not answer or does not play by the rules."""


class Limits(NamedTuple):
    """What an engine may spend on a move.

    Attributes:
        depth: half-moves to look ahead.
        nodes: positions to look at.
        timeout_s: seconds.
    """

    depth: int
    nodes: int
    timeout_s: float


def find_engine(opponent: str, path: str) -> str:
    """The program of a UCI engine.

    Args:
        opponent: `stockfish`, or `uci` for the one at the path.
        path: where it is; empty to look for Stockfish.

    Raises:
        EngineFault: there is none. It says how to get one.
    """
    wanted = path or (opponent if opponent == "stockfish" else "")
    if not wanted:
        raise EngineFault(
            f"opponent {opponent!r} needs an engine: set CHESS_UCI_PATH to its program where the "
            "server runs"
        )
    found = shutil.which(wanted) or shutil.which(wanted, path=PLACES)
    if found is None:
        raise EngineFault(
            f"opponent {opponent!r}: there is no program {wanted!r}; install it where the server "
            "runs (apt-get install stockfish), or set CHESS_UCI_PATH to a UCI engine"
        )
    return found


class UciEngine:
    """A running engine. Everything it is asked has a deadline; one that misses it is killed.

    Args:
        program: its path.
        skill: the value of its option `Skill Level`, if it has one.

    Raises:
        EngineFault: it does not start, or is no UCI engine.
    """

    def __init__(self, program: str, skill: int | None = None) -> None:
        self.program, self.skill = program, skill
        self._received = b""
        try:
            self._process = subprocess.Popen(
                [program],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what it starts is killed with it
            )
        except OSError as error:
            raise EngineFault(f"the engine {program} does not start: {error}") from None
        try:
            self._introduce()
        except EngineFault:
            self.close()
            raise

    def new_game(self) -> None:
        """Makes it forget the last game.

        Raises:
            EngineFault: it does not answer.
        """
        self._say("ucinewgame", "isready")
        for _ in self._hear("readyok", START_S):
            pass

    def best_move(self, start: str, moves: Sequence[str], limits: Limits) -> str:
        """The move that it answers, whatever that is.

        Args:
            start: the FEN that the game began from.
            moves: the moves since, in UCI.
            limits: what it may spend.

        Raises:
            EngineFault: it has ended, or does not answer in time.
        """
        played = f" moves {' '.join(moves)}" if moves else ""
        self._say(
            f"position fen {start}{played}",
            f"go depth {limits.depth} nodes {limits.nodes} "
            f"movetime {max(1, int(limits.timeout_s * 1000))}",
        )
        *_, answer = self._hear("bestmove", limits.timeout_s + GRACE_S)
        return answer.split()[1] if " " in answer else ""

    def close(self) -> None:
        """Kills it, and all that it has started. May be called twice."""
        process = self._process
        if process.stdin is None or process.stdin.closed:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait(STOP_S)

    def _introduce(self) -> None:
        self._say("uci")
        wanted = QUIET if self.skill is None else {**QUIET, "Skill Level": self.skill}
        told = {f"option name {name} type spin": (name, value) for name, value in wanted.items()}
        offered = set()
        for line in self._hear("uciok", START_S):
            offered |= {option for start, option in told.items() if line.startswith(start)}
        self._say(*(f"setoption name {name} value {value}" for name, value in sorted(offered)))
        self.new_game()

    def _say(self, *lines: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        except (OSError, ValueError):  # a closed pipe, at its other end or at this one
            raise self._ended() from None

    def _hear(self, last: str, within_s: float) -> Iterator[str]:
        """Its lines as they come, up to the one that begins with a word."""
        deadline = time.monotonic() + within_s
        words: list[str] = []
        while words[:1] != [last]:
            line = self._line(deadline)
            words = line.split(maxsplit=1)
            yield line

    def _line(self, deadline: float) -> str:
        while b"\n" not in self._received:
            self._receive(deadline)
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace").strip()

    def _receive(self, deadline: float) -> None:
        assert self._process.stdout is not None
        left = deadline - time.monotonic()
        waiting = select.poll()
        waiting.register(self._process.stdout, select.POLLIN)
        if left <= 0 or not waiting.poll(left * 1000):
            raise EngineFault(f"the engine {self.program} did not answer in time")
        chunk = self._process.stdout.read(65536)
        if not chunk:
            raise self._ended()
        self._received += chunk
        if len(self._received) > LONGEST_LINE:
            raise EngineFault(f"the engine {self.program} says what is no line of UCI")

    def _ended(self) -> EngineFault:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return EngineFault(f"the engine {self.program} {how}")
