"""What was measured with a recipe, on which machine, and what is only transfer."""
