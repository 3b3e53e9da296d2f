"""What a path on the command line means."""
