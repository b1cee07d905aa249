"""Stand-ins for what cannot be provoked: an upstream that sends exactly the bytes of a script."""
