"""Plays case files: a scripted upstream, a real proxy, and a check for every expectation."""
