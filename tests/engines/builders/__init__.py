"""Scripts that run inside a vLLM environment, by its own Python; they import nothing of ours."""
