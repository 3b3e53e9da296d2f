"""Collections of episodes, on disk and on the hub."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.harness.collecting.collect import CollectRunner
    from openenv.harness.collecting.dataset import (
        README_FILENAME,
        build_dataset_readme,
        push_to_hf_hub,
    )
    from openenv.harness.collecting.records import (
        METADATA_FILENAME,
        RESULTS_FILENAME,
        CollectResult,
        EpisodeRecord,
        RolloutSerializer,
    )
    from openenv.harness.rollouts.model_step import build_model_step

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
        "CollectResult": "openenv.harness.collecting.records",
        "CollectRunner": "openenv.harness.collecting.collect",
        "EpisodeRecord": "openenv.harness.collecting.records",
        "METADATA_FILENAME": "openenv.harness.collecting.records",
        "README_FILENAME": "openenv.harness.collecting.dataset",
        "RESULTS_FILENAME": "openenv.harness.collecting.records",
        "RolloutSerializer": "openenv.harness.collecting.records",
        "build_dataset_readme": "openenv.harness.collecting.dataset",
        "build_model_step": "openenv.harness.rollouts.model_step",
        "push_to_hf_hub": "openenv.harness.collecting.dataset",
    },
)
