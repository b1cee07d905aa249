"""Upstreams: lanes that carry a call, and what is known of the engine behind one."""
