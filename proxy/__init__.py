"""Sluicegate: a gating proxy for vLLM that holds a contract on every reply."""

__version__ = "0.1.0"
