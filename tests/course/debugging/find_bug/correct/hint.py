"""The third hint, line by line."""


def find_bug(run):
    for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000):
        numbers = [(-1) ** i * (i + n + 0.25) for i in range(n)]
        if list(run(numbers)) != numbers:
            return 1
    special = [float("nan"), float("inf"), -float("inf")]
    result = run(special)
    if not (result[0] != result[0] and list(result[1:]) == special[1:]):
        return 1
    return 0
