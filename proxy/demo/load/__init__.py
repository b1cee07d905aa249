"""A load for dashboards: requests of every kind, some of them wrong, at a gentle rate."""
