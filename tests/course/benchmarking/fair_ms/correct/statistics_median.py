"""The median of the library, and more rounds."""

import statistics


def one_round(run, fresh_inputs, gpu):
    inputs = fresh_inputs()
    gpu.flush_l2()
    begin = gpu.record()
    run(*inputs)
    return begin, gpu.record()


def fair_ms(run, fresh_inputs, gpu):
    for _ in range(60):
        one_round(run, fresh_inputs, gpu)
    rounds = [one_round(run, fresh_inputs, gpu) for _ in range(80)]
    gpu.synchronize()
    return statistics.median(end.ms - begin.ms for begin, end in rounds)
