"""Small functions: one for the inputs, one for the comparison."""


def inputs():
    yield []
    for power in range(8):
        for n in (2**power - 1, 2**power, 2**power + 1):
            yield [1 / (i + 2) - n * (i % 3 - 1) for i in range(n)]
    yield [i * -1.5 for i in range(900)]
    yield [float("nan")] * 3
    yield [float("inf"), float("-inf")]


def differs(a, b):
    return len(a) != len(b) or any(p != q and (p == p or q == q) for p, q in zip(a, b))


def find_bug(run):
    return max(int(differs(numbers, run(numbers))) for numbers in inputs())
