"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import Axis, Contract, Tensor

CONTRACTS = {"double": Contract({"n": Axis()}, {"x": Tensor("n")}, FLOATS)}
