"""Episodes written down, as data sets."""
