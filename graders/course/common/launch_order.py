"""Numbers of a launch that are passed to the wrong parameters of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graders.judge.records import Evidence, Misconception

# Its consequences: masks and tiles that are correct but get other numbers.
FOLLOWS = frozenset(
    {
        "missing-mask",
        "mask-too-narrow",
        "tiles-lost",
        "grid-too-small",
        "strides-swapped",
        "contiguous-assumed",
        "column-stride-ignored",
        "rows-for-elements",
    }
)


def launch_order(
    sizes: Sequence[str], strides: Sequence[str], due: Callable[..., Sequence[int]]
) -> Misconception:
    """Return the misconception of sizes and strides that a launch passes in another order.

    `due(*args)` gives the correct values of the parameters `sizes` and `strides`, in the order of
    the kernel's `def`. Strides exchanged only among themselves are a separate misconception.
    """
    names = (*sizes, *strides)

    def detector(evidence: Evidence) -> bool:
        given = evidence.launches[-1].given if evidence.launches else {}
        if not given.keys() >= set(names):
            return False  # parameters differ from those of the stub
        right = dict(zip(names, due(*evidence.args), strict=True))
        arrived = {name: given[name] for name in names}
        if not all(_whole(value) for value in arrived.values()):
            return False
        wrong = any(arrived[name] != right[name] for name in sizes)
        return wrong and sorted(arrived.values()) == sorted(right.values())

    listed = ", ".join(f"`{name}`" for name in names)
    return Misconception(
        code="launch-order",
        places=True,
        title="Sizes or strides of the launch arrive at the wrong parameters",
        message=(
            "The launch passes the correct numbers in the wrong order, so some parameters of the "
            "kernel get each other's values. Arguments without a name are matched by position. "
            "The mistake is in the launch, not in the mask."
        ),
        next_step=(
            "Compare the launch with the kernel's `def` line, position by position. After the "
            f"tensors come, in this order, {listed}."
        ),
        detector=detector,
        rules_out=FOLLOWS,
    )


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
