"""Collections of episodes, on disk and on the hub."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.harness.collect import CollectRunner
    from openenv.harness.dataset import README_FILENAME, build_dataset_readme, push_to_hf_hub
    from openenv.harness.model_step import build_model_step
    from openenv.harness.records import (
        METADATA_FILENAME,
        RESULTS_FILENAME,
        CollectResult,
        EpisodeRecord,
        RolloutSerializer,
    )

__all__ = [
    "CollectResult",
    "CollectRunner",
    "EpisodeRecord",
    "METADATA_FILENAME",
    "README_FILENAME",
    "RESULTS_FILENAME",
    "RolloutSerializer",
    "build_dataset_readme",
    "build_model_step",
    "push_to_hf_hub",
]

__getattr__ = lazy(
    __name__,
    {
        "CollectResult": "openenv.harness.records",
        "CollectRunner": "openenv.harness.collect",
        "EpisodeRecord": "openenv.harness.records",
        "METADATA_FILENAME": "openenv.harness.records",
        "README_FILENAME": "openenv.harness.dataset",
        "RESULTS_FILENAME": "openenv.harness.records",
        "RolloutSerializer": "openenv.harness.records",
        "build_dataset_readme": "openenv.harness.dataset",
        "build_model_step": "openenv.harness.model_step",
        "push_to_hf_hub": "openenv.harness.dataset",
    },
)
