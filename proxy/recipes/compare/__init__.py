"""Which switches differ between recipes, and what follows from it."""
