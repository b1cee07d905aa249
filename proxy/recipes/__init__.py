"""Serving recipes: what the engine behind a lane was started with."""
