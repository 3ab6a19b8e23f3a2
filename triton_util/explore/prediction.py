"""Predict first, then see: the answer stays hidden until there is a prediction."""

from __future__ import annotations

import math
from fractions import Fraction


def reveal(predicted: float | str | None, actual: float, unit: str = "") -> None:
    """Print the prediction beside what is the case, or ask for one where it is None.

    Both are numbers in the same unit; "1/8" is one, too. Nothing is graded.
    """
    if isinstance(predicted, str):
        try:
            predicted = float(Fraction(predicted.replace(",", "").replace("_", "")))
        except (ValueError, ZeroDivisionError):
            print(f"A prediction is a number, such as 12 or 1/8, and not {predicted!r}.")
            return
    if predicted is None:
        print("First predict: replace None by a number in the cell above, then run both again.")
        return
    unit = f" {unit}" if unit else ""
    print(f"You predicted: {number_text(predicted)}{unit}")
    print(f"It is:         {number_text(actual)}{unit}")
    if predicted == actual or (math.isnan(predicted) and math.isnan(actual)):
        print("Exactly.")
    elif actual and math.isclose(predicted, actual, rel_tol=0.02):
        print("As good as exactly.")
    elif actual and predicted / actual > 0:
        print(f"You predicted {predicted / actual:.3g} times that.")


def number_text(value: float) -> str:
    """A number as people write it: 1,048,576 or 0.125."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}"
