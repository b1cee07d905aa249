"""What the log of a booting vLLM tells, and why one died."""
