"""The web interface: a static page, and what a server tells it."""
