"""Metrics, timings, the record of a request and its log line."""
