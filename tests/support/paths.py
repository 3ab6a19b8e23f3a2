"""Paths in the clone that several tests need."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RIGHT_KERNELS = ROOT / "tests" / "right_kernels"
WRONG_KERNELS = ROOT / "tests" / "wrong_kernels"
