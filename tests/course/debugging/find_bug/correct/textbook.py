"""All lengths near powers of two, other numbers for each, and special values last."""


def find_bug(run):
    lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000]
    inputs = [[(-1) ** i * (i + n + 0.25) for i in range(n)] for n in lengths]
    inputs.append([float("nan"), float("inf"), -float("inf")])
    for numbers in inputs:
        copied = run(numbers)
        if len(copied) != len(numbers):
            return 1
        for a, b in zip(numbers, copied):
            if a != b and not (a != a and b != b):
                return 1
    return 0
