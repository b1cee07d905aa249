"""What a real vLLM writes, and where its `</think>` lands, decided by a test."""
