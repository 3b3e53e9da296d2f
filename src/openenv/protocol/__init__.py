"""The conversation between a client and a server, without I/O."""
