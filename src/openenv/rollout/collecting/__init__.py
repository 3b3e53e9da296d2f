"""Collecting: many episodes of a policy, played on one server, kept and told of."""
