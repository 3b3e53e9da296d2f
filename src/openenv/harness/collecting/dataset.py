"""A collection as a data set: its card, and its way to the hub."""

from __future__ import annotations

from pathlib import Path

from openenv.harness.collecting.records import (
    METADATA_FILENAME,
    RESULTS_FILENAME,
    RolloutSerializer,
)
from openenv.protocol.errors import ConfigurationError, OpenEnvError
from openenv.protocol.extras import needs

README_FILENAME = "README.md"


class UploadFailed(OpenEnvError, RuntimeError):
    """A collection could not be uploaded."""


def build_dataset_readme(output_dir: str | Path) -> str:
    """The card of a collection: what its columns are, and how it is loaded.

    Raises:
        ConfigurationError: the folder holds something else.
    """
    episodes = len(RolloutSerializer(output_dir).collected_episode_ids())
    return _CARD.format(results=RESULTS_FILENAME, episodes=episodes)


def push_to_hf_hub(
    output_dir: str | Path,
    repo_id: str,
    *,
    private: bool = False,
    commit_message: str | None = None,
    token: str | None = None,
) -> str:
    """Uploads a collection as a data set, with a card; makes the data set if there is none.

    Args:
        output_dir: the collection's folder. Failed episodes stay where they are.
        repo_id: `OWNER/NAME`.
        private: whether a data set that is made is private.
        commit_message: what the upload is about.
        token: of the hub; by default the one that the hub's own login keeps.

    Returns:
        The address of the data set.

    Raises:
        ConfigurationError: there are no episodes, or the folder holds something else.
        UploadFailed: the hub refused, or is out of reach.
        MissingPackage: the extra `hub` is not installed (also ImportError).
    """
    folder = Path(output_dir)
    if not RolloutSerializer(folder).collected_episode_ids():
        raise ConfigurationError(f"{folder / RESULTS_FILENAME} has no episodes to upload")
    with needs("openenv-core[hub]"):
        from huggingface_hub import HfApi
    (folder / README_FILENAME).write_text(build_dataset_readme(folder), encoding="utf-8")
    hub = HfApi(token=token)
    try:
        made = hub.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True)
        hub.upload_folder(
            folder_path=folder,
            repo_id=made.repo_id,
            repo_type="dataset",
            allow_patterns=[RESULTS_FILENAME, METADATA_FILENAME, README_FILENAME],
            commit_message=commit_message or "Episodes collected with OpenEnv",
        )
    except Exception as error:
        raise UploadFailed(
            f"{folder} could not be uploaded to {repo_id}: {type(error).__name__}: {error}; what "
            "was collected is still there"
        ) from error
    return str(made)


_CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: {results}
---

# Episodes collected with OpenEnv

{episodes} episodes, one a line of `{results}`:

| column | what it is |
|---|---|
| `episode_id` | the episode's name |
| `messages` | the conversation, with `role`, `content` and calls of tools |
| `reward` | the episode's reward; null where the environment gives none |
| `done` | whether the environment has ended it |
| `tool_trace` | each call: `tool_name`, `arguments`, `result` |
| `metrics` | turns, calls, what stopped it, and what each step is worth if that is known |
| `verify_metrics`, `artifacts` | what its session says and keeps of it |
| `task`, `extra` | what it was about; its seed |

```python
from datasets import load_dataset

episodes = load_dataset("OWNER/NAME", split="train")
```
"""
