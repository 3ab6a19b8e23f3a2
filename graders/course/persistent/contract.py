"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.matmul.contract import PRODUCT

CONTRACTS = {"persistent_matmul": PRODUCT}
