"""`recipe up`: an engine started from a recipe, watched, explained, and ended without a rest.

Imports nothing: the keeper is a module of this package and must start fast.
"""
