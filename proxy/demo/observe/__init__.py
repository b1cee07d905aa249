"""A real Prometheus beside the demo, and where to look."""
