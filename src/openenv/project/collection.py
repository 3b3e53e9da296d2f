"""A folder of collected episodes, and what is written of them as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from openenv import __version__
from openenv.harness.collecting.collection import Collection
from openenv.harness.collecting.records import CollectResult, RolloutSerializer
from openenv.project.errors import ProjectError
from openenv.protocol.errors import ConnectFailed
from openenv.rollout.trajectories.folder_lock import FolderBusy


def write(
    collection: Collection,
    output_dir: Path,
    *,
    resume: bool,
    told: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Plays a collection into a folder; the answer is as JSON takes it.

    Args:
        collection: what is played.
        output_dir: the folder.
        resume: keep what is there and play the rest; otherwise what is there is set aside.
        told: is told, in a line, of an episode that fails.

    Raises:
        ProjectError: the server went away, the folder cannot be written, another run writes it, or
            it has episodes of another environment.
        ConfigurationError: the folder holds something else.
    """
    serializer = RolloutSerializer(output_dir)
    try:
        with serializer.alone():
            if not resume and (aside := serializer.set_aside()):
                told(f"what was there is in {aside} now")
            _refuse_others(serializer, collection)
            result = collection.run(serializer, told)
            serializer.write_metadata(_metadata(collection, result))
    except FolderBusy as error:
        raise ProjectError(f"{error} with --output-dir") from error
    except ConnectFailed as error:
        raise ProjectError(
            f"{error}; what was played is in {serializer.results_path}: run the same command again "
            "to go on"
        ) from error
    except OSError as error:
        raise ProjectError(
            f"{error.filename or output_dir} cannot be written: {error.strerror}; give another "
            "folder with --output-dir"
        ) from error
    return {"results": str(serializer.results_path), **result.to_dict()}


def _refuse_others(serializer: RolloutSerializer, collection: Collection) -> None:
    """Keeps episodes of different environments apart: a record says what was played."""
    try:
        with serializer.results_path.open("rb") as results:
            there = json.loads(results.readline())["task"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):  # playing tells what it is
        return
    if there != collection.task:
        raise ProjectError(
            f"{serializer.results_path} has episodes of {there}, not of {collection.task}; give "
            "another folder with --output-dir, or set them aside with --no-resume"
        )


def _metadata(collection: Collection, result: CollectResult) -> dict[str, Any]:
    server = urlsplit(collection.spec.base_url)
    run = result.to_dict()
    del run["episode_ids"]  # they are in the records
    return {
        "env": collection.task,
        "base_url": server._replace(netloc=server.netloc.rpartition("@")[2]).geturl(),
        "provider": collection.player,
        "policy": collection.policy.name,
        "environment": collection.spec.identity,
        "seed": collection.seed,
        "num_episodes": collection.num_episodes,
        "max_turns": collection.max_turns,
        "episode_id_prefix": collection.prefix,
        "keep_losses": collection.keep_losses,
        "dataset_config": dict(collection.options),
        "openenv_version": __version__,
        "finished_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "last_run": run,
    }
