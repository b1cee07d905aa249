"""What a vLLM knows of its own flags, pinned or asked of an installed one."""
