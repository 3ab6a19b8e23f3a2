"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.matmul.contract import PRODUCT

CONTRACTS = {"autotuned_matmul": PRODUCT}
