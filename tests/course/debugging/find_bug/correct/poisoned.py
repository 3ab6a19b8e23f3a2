"""Fills the output's memory with an odd number before each input."""

import math


def find_bug(run):
    def equal(a, b):
        return a == b or (math.isnan(a) and math.isnan(b))

    for n in (0, 1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 64, 65, 128, 320, 321, 999):
        run([-77.5] * 1000)
        numbers = [math.sin(i + 1) * 100 for i in range(n)]
        copied = run(numbers)
        if len(copied) != n or not all(map(equal, copied, numbers)):
            return 1
    special = (math.nan, math.inf, -math.inf, -0.5)
    return int(not all(map(equal, run(special), special)))
