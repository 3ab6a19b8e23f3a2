"""Compares the texts of both lists, in which NaN equals NaN."""


def find_bug(run):
    for n in [*range(70), 127, 128, 129, 400]:
        numbers = [(i + 1) * (n + 1) / 7 * (-1) ** (i + n) for i in range(n)]
        if n > 2:
            numbers[:3] = [float("nan"), float("-inf"), float("inf")]
        if str(list(run(numbers))) != str(numbers):
            return 1
    return 0
