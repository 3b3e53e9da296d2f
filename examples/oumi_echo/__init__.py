"""Training with Oumi against a served echo."""
