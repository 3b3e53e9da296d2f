"""The web page against a server elsewhere: what the page asks is passed on, and nothing else."""
