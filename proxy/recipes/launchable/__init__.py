"""What keeps a recipe from being launched here: the checks tell it, and the launcher refuses it."""
