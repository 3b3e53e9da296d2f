"""Whether an environment keeps its promises: `openenv validate`."""
