"""The embedded model and the guided tour: `make up`, `sluicegate demo`.

Imports nothing: the engine child is a module of this package and must start fast.
"""
