"""The watchers of a running kernel: stores, races, coverage, traffic and caches."""
