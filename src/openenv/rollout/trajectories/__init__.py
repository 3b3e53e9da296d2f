"""Trajectories: episodes as they were played, kept in files, replayed, and made into data sets."""
