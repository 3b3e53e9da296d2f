"""Trajectories as the rows of a Parquet file: one row for each reset and each step.

What differs from environment to environment (actions, observations, options, metadata, errors) is
JSON text, so that one file holds them all; the rest are columns of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from openenv.protocol.errors import Json
from openenv.protocol.extras import needs
from openenv.rollout.trajectories.plain import NotPlain
from openenv.rollout.trajectories.trajectory import NotATrajectory, Trajectory

ROWS_AT_ONCE = 4096
_TEXTS = ("episode_id", "openenv_version", "policy", "started_at", "end")
_OF_EPISODE = ("environment", "options", "error", "messages")
_OF_ROW = ("action", "observation", "metadata")


def require_pyarrow() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`.

    Raises:
        MissingPackage: it is not installed.
    """
    with needs("pyarrow"):
        return import_module("pyarrow"), import_module("pyarrow.parquet")


def rewrite(path: Path, trajectories: Iterable[Trajectory]) -> None:
    """Writes a file anew, whole or not at all.

    Args:
        path: the file; it may be read from while it is written.
        trajectories: all that it is to hold.

    Raises:
        NotPlain: a seed is too large for a column.
    """
    pa, parquet = require_pyarrow()
    schema = _schema(pa)
    fresh = path.with_name(f"{path.name}.tmp")
    try:
        with parquet.ParquetWriter(fresh, schema, compression="zstd") as writer:
            for rows in _chunks(row for each in trajectories for row in _rows(each)):
                writer.write_table(pa.Table.from_pylist(rows, schema))
        fresh.replace(path)
    except OverflowError as error:
        raise NotPlain(f"{path} cannot keep a seed from 2**63; keep it as .jsonl") from error
    finally:
        fresh.unlink(missing_ok=True)


def rows_of(path: Path) -> Iterator[Trajectory]:
    """The trajectories of a file.

    Raises:
        BrokenFile: it holds something else.
    """
    from openenv.rollout.trajectories.store import BrokenFile

    pa, parquet = require_pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(ROWS_AT_ONCE) for row in batch.to_pylist())
            for number, episode in groupby(rows, key=_number()):
                yield _trajectory(list(episode), number)
    except (NotATrajectory, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise BrokenFile(f"{path} is no file of trajectories: {error}") from error


def _schema(pa: Any) -> Any:
    texts = {name: pa.string() for name in ("format", *_TEXTS, *_OF_EPISODE, *_OF_ROW)}
    columns = {
        **texts,
        "seed": pa.int64(),
        "step": pa.int64(),
        "reward": pa.float64(),
        "terminated": pa.bool_(),
        "truncated": pa.bool_(),
        "latency_ms": pa.float64(),
    }
    return pa.schema(list(columns.items()))


def _rows(trajectory: Trajectory) -> Iterator[Json]:
    """The reset as step 0 (without an observation if it failed), then the steps from 1."""
    said = trajectory.to_dict()
    common = {name: said[name] for name in ("format", *_TEXTS, "seed")}
    common |= {name: json.dumps(said[name]) for name in _OF_EPISODE}
    for number, part in enumerate([said["reset"] or {}, *said["steps"]]):
        texts = {name: json.dumps(part[name]) for name in _OF_ROW if name in part}
        plain = {name: value for name, value in part.items() if name not in _OF_ROW}
        yield {**common, **plain, **texts, "step": number, "reward": _number_in(part)}


def _number_in(part: Json) -> float | None:
    reward = part.get("reward")
    return float(reward["$float"]) if isinstance(reward, dict) else reward


def _chunks(rows: Iterable[Json]) -> Iterator[list[Json]]:
    chunk: list[Json] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == ROWS_AT_ONCE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _number() -> Any:
    """A key that tells the rows of one episode from those of the next: each begins with step 0."""
    episodes = 0

    def key(row: Json) -> int:
        nonlocal episodes
        if row["step"] == 0:
            episodes += 1
        return episodes

    return key


def _trajectory(rows: list[Json], number: int) -> Trajectory:
    first = rows[0]
    if [row["step"] for row in rows] != list(range(len(rows))):
        raise NotATrajectory(f"the steps of episode {number} are not in order")
    said = {name: first[name] for name in ("format", *_TEXTS, "seed")}
    said |= {name: json.loads(first[name]) for name in _OF_EPISODE}
    begun = None if first["observation"] is None else _part(first, ("observation", "metadata"))
    return Trajectory.from_dict({**said, "reset": begun, "steps": [_step(row) for row in rows[1:]]})


def _step(row: Json) -> Json:
    own = {name: row[name] for name in ("reward", "terminated", "truncated")}
    return {**own, **_part(row, _OF_ROW)}


def _part(row: Json, texts: tuple[str, ...]) -> Json:
    return {**{name: json.loads(row[name]) for name in texts}, "latency_ms": row["latency_ms"]}
