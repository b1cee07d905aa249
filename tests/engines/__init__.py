"""Real vLLM on the CPU: environments, small models, and servers that leave nothing behind."""
