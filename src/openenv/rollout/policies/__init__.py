"""Policies: what chooses actions, what it may know of an environment, and how it is called."""
