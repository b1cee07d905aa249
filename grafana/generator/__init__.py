"""Grafana dashboards as plain text in Python; `build` writes them as JSON."""
