"""Random numbers of all sizes; a seed makes the test repeatable."""

import random


def find_bug(run):
    draw = random.Random(0)
    for n in [*range(131), 300]:
        numbers = [draw.uniform(-1000.0, 1000.0) for _ in range(n)]
        if list(run(numbers)) != numbers:
            return 1
    for number in (float("inf"), -float("inf"), float("nan")):
        (copied,) = run([number])
        if repr(copied) != repr(number):
            return 1
    return 0
