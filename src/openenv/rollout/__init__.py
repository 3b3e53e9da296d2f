"""Many episodes at once: a pool of sessions that is stepped as one."""
