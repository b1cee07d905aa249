"""The imitation upstream: what a proxy and its dashboards see of a vLLM server, without a model."""
