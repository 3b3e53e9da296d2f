"""Agents inside an environment: what starts them, speaks to them, and ends them."""
