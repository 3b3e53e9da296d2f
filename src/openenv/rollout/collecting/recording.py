"""Recording: trajectories that end at about the same time are put on the disk together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from openenv.rollout.collecting.episodes import told
from openenv.rollout.trajectories.plain import NotPlain
from openenv.rollout.trajectories.store import encoded
from openenv.rollout.trajectories.trajectory import Trajectory

Line = tuple[Trajectory, bytes]
"""A trajectory and the line that it is in a file."""


class Sink(Protocol):
    """Where trajectories go."""

    def write(self, lines: Sequence[Line]) -> None:
        """Keeps them, for good; it may block.

        Raises:
            OSError: they could not be written.
        """


class Recorder:
    """Gives trajectories to a sink, in a thread, all at once that wait for it.

    Args:
        sink: where they go.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._waiting: list[tuple[Line, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def keep(self, trajectory: Trajectory) -> Trajectory:
        """Returns when a trajectory is kept; gives it as it was kept.

        One that no file can hold is kept as an error.

        Raises:
            OSError: it could not be written.
        """
        try:
            line = trajectory, encoded(trajectory)
        except NotPlain as error:
            kept = replace(trajectory, end="error", error=told(error), messages=None)
            empty = replace(kept, steps=[], reset=None)
            line = empty, encoded(empty)
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((line, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written
        return line[0]

    async def settle(self) -> None:
        """Returns when nothing is being written any more."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                await asyncio.to_thread(self._sink.write, [line for line, _ in batch])
            except Exception as failed:  # noqa: BLE001  # it is the episodes' that wait for it
                error = failed
            for _, written in batch:
                if written.done():  # nobody waits for it any more
                    continue
                if error is None:
                    written.set_result(None)
                else:
                    written.set_exception(error)
