"""Copy kernels to test, most of them with a planted bug, and a table of the bugs that a test finds.

    from triton_util import mutants

    print(mutants.table(my_test))

A kernel here is a few lines of Python that do what its programs would do, one after the other. It
leaves the output's memory as it was where no program stores, as `torch.empty` does.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

MOST_NUMBERS = 1000  # of one input
MOST_RUNS = 500
NO_BUG = "no bug"
# The bugs that learners see. The judge tries others as well.
PUBLIC = (
    ("offsets without the pid", 4),
    ("programs n apart", 8),
    ("grid rounded down", 16),
    ("last element masked off", 32),
    ("full last block lost", 8),
    ("each block reversed", 4),
    ("sign lost", 16),
    ("fraction lost", 4),
)
CORRECT = ((NO_BUG, 2), (NO_BUG, 16), (NO_BUG, 64))


class TestError(RuntimeError):
    """A test uses a kernel in a way that the contract does not allow."""

    __test__ = False  # this is no test of pytest's
    code = "run-misused"
    over = False


@dataclass
class KernelUnderTest:
    """One copy kernel with blocks of `block` lanes; `runs` are its inputs and results so far."""

    fault: str
    block: int
    runs: list[tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=list)
    _memory: list[float] = field(default_factory=lambda: [0.0] * (MOST_NUMBERS + 1))

    def run(self, numbers: Sequence[float]) -> tuple[float, ...]:
        """Return the kernel's copy of the numbers."""
        if not isinstance(numbers, Sequence) or isinstance(numbers, str):
            raise TestError("run(numbers) takes a list of numbers.")
        if len(numbers) > MOST_NUMBERS:
            raise TestError(f"run(numbers) takes at most {MOST_NUMBERS:,} numbers.")
        if len(self.runs) == MOST_RUNS:
            raise TestError(f"A test may call run(numbers) {MOST_RUNS} times.")
        given = tuple(map(float, numbers))
        for place, source in self._stores(len(given)):
            if 0 <= place < len(given):
                self._memory[place] = _value(self.fault, given[source])
        extra = 1 if self.fault == "empty vector gets an element" and not given else 0
        result = tuple(self._memory[: len(given) + extra])
        self.runs.append((given, result))
        return result

    def _stores(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield what each lane stores: its place in the output, and which element of the input."""
        programs = math.ceil(n / self.block)
        if self.fault == "grid rounded down":
            programs = n // self.block
        elif self.fault == "full last block lost" and n % self.block == 0:
            programs -= 1
        elif self.fault == "at most four programs":
            programs = min(programs, 4)
        distance = {
            "offsets without the pid": 0,
            "programs n apart": n,
            "blocks overlap": self.block - 1,
        }.get(self.fault, self.block)
        for pid in range(programs):
            for lane in range(self.block):
                offset = pid * distance + lane
                if offset < n and not self._masked_off(offset, n):
                    yield offset, self._source(pid, lane, offset, n)

    def _masked_off(self, offset: int, n: int) -> bool:
        return (self.fault == "last element masked off" and offset == n - 1) or (
            self.fault == "first element masked off" and offset == 0
        )

    def _source(self, pid: int, lane: int, offset: int, n: int) -> int:
        if self.fault == "each block reversed":
            return min(pid * self.block + self.block - 1 - lane, n - 1)
        return offset


def _value(fault: str, number: float) -> float:
    if fault == "sign lost":
        return abs(number)
    if fault == "fraction lost" and math.isfinite(number):
        return float(int(number))
    if fault == "rounded to fp16" and abs(number) < 65_504:
        return float(struct.unpack("e", struct.pack("e", number))[0])
    if fault == "NaN becomes 0" and math.isnan(number):
        return 0.0
    if fault == "infinity becomes a number" and math.isinf(number):
        return math.copysign(65_504.0, number)
    return number


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal; NaN is equal to NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))


def shown(kernel: KernelUnderTest) -> bool:
    """Whether a run so far gave a wrong copy."""
    return any(
        len(given) != len(result) or not all(map(same, given, result))
        for given, result in kernel.runs
    )


def table(test: Callable[[Callable[[Sequence[float]], tuple[float, ...]]], int]) -> str:
    """A line for each public kernel: what the test returned, and whether that is correct."""
    lines = [f"{'kernel':26} {'block':>5}  find_bug says"]
    correct = 0
    for fault, block in (*CORRECT, *PUBLIC):
        expected = int(fault != NO_BUG)
        try:
            said: object = test(KernelUnderTest(fault, block).run)
        except Exception as error:  # the table shows every error
            said = f"{type(error).__name__}: {error}"
        right = type(said) is int and said == expected
        correct += right
        lines.append(f"{fault:26} {block:5}  {said} {'' if right else f'WRONG, not {expected}'}")
    lines.append(f"correct for {correct} of {len(CORRECT) + len(PUBLIC)} kernels")
    return "\n".join(line.rstrip() for line in lines)
