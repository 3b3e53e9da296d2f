"""Episodes as trainers see them: sessions, loops around a model, and their results."""
