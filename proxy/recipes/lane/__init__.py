"""What the proxy makes of the recipe that a lane is said to run."""
