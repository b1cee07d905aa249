"""HTTP surfaces: the OpenAI-compatible hot path and the admin listener."""
