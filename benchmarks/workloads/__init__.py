"""What benchmarks/solutions.py times: sizes, baselines, checks, and the bars that must hold.

A workload is one exercise at one size. Its contenders are the solutions (plain and, where
there is one, fast) and the baselines; its bars say how much faster than a baseline the best
solution has to be.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.workloads import attentions, counting, elementwise, layouts, products, rows
from benchmarks.workloads.records import Workload

TOPICS = (elementwise, rows, layouts, counting, products, attentions)


def all_workloads() -> Iterator[Workload]:
    """Every line of the table."""
    for topic in TOPICS:
        yield from topic.all_here()
