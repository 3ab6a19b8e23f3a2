"""Predict first, then see: the answer stays hidden until there is a prediction."""

from __future__ import annotations

import math


def reveal(predicted: float | None, measured: float, unit: str = "") -> None:
    """Print the prediction beside what was measured, or ask for one where it is None.

    Both are numbers in the same unit. Nothing is graded.
    """
    if predicted is None:
        print("First predict: replace None by a number in the cell above, then run both again.")
        return
    unit = f" {unit}" if unit else ""
    print(f"Your prediction: {_number(predicted)}{unit}")
    print(f"Measured:        {_number(measured)}{unit}")
    if math.isclose(predicted, measured, rel_tol=1e-9):
        print("Exactly.")
    elif measured and predicted and predicted / measured > 0:
        print(f"Your prediction is {predicted / measured:.3g} times what was measured.")


def _number(value: float) -> str:
    """A number as people write it: 1,048,576 or 0.125."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}"
