"""From long inputs to short ones, with numbers that count on."""

from itertools import count


def find_bug(run):
    numbers = count(3)
    bad = 0
    for n in range(300, -1, -1):
        given = tuple(next(numbers) * 0.75 * (1 - 2 * (i % 2)) for i in range(n))
        bad |= run(given) != given
    copied = run((float("inf"), float("nan"), float("-inf")))
    bad |= copied[0] != float("inf") or copied[1] == copied[1] or copied[2] != float("-inf")
    return int(bad)
