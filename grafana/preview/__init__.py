"""Pictures of the dashboards, drawn with Grafana's component library from a running Prometheus."""
