"""Sluicegate: a gating proxy for vLLM that holds a contract on every reply."""

__version__ = "0.1.0"

# A name that the other package `proxy` (proxy.py) lacks: importing it tells the two apart.
PRODUCT = "sluicegate"
