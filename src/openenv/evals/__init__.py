"""Evaluations: what a model is worth, measured with the harnesses of others."""
