"""From the text of a recipe to its argument list and typed settings."""
