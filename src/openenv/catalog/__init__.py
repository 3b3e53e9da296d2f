"""Environments that are found: by their manifest, by their package, by their name."""
