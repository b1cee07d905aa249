"""What is wrong with a recipe, and what is known of what it starts."""
