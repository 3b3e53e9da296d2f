"""Training a model to write strategies for 2048, with Unsloth."""
