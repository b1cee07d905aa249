"""The wire: SSE, requests and replies as values. Pure; imports nothing of the rest."""
