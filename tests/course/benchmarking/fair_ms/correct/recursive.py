"""No loop at all: a function that calls itself, with an accumulator."""

import functools


def rounds(run, fresh_inputs, gpu, left, found=()):
    if left == 0:
        return found
    inputs = fresh_inputs()
    gpu.flush_l2()
    start = gpu.record()
    run(*inputs)
    return rounds(run, fresh_inputs, gpu, left - 1, (*found, (start, gpu.record())))


def fair_ms(run, fresh_inputs, gpu):
    measure = functools.partial(rounds, run, fresh_inputs, gpu)
    measure(55)
    found = measure(55)
    gpu.synchronize()
    return sorted(map(lambda pair: pair[1].ms - pair[0].ms, found))[27]
