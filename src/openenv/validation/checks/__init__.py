"""What is looked at, by what it takes to look at it. `openenv.validation.registry` has them all."""
