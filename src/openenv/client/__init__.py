"""The other end: clients of environments."""
