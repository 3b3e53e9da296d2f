"""Values made up from JSON schemas, and whether values fit them."""
