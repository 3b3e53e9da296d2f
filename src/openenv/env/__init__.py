"""What an author of an environment writes against."""
