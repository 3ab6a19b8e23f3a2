"""Collects submissions: finds where they are, who handed them in, and which file counts."""
