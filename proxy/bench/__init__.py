"""Measurements that a person runs against a server."""
