"""Environments that run: sessions, and the hosts they live in."""
