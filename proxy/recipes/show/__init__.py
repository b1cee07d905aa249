"""A recipe for people, for a shell, and as JSON."""
