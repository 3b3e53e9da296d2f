"""Places where servers can be started: this machine, a container engine, a cluster."""
