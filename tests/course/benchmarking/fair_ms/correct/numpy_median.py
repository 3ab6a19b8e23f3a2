"""NumPy's median: the result is a float64 of NumPy's."""

import numpy as np


def fair_ms(run, fresh_inputs, gpu):
    for _ in range(64):
        run(*fresh_inputs())
    starts, ends = [], []
    for _ in range(64):
        inputs = fresh_inputs()
        gpu.flush_l2()
        starts.append(gpu.record())
        run(*inputs)
        ends.append(gpu.record())
    gpu.synchronize()
    begin = np.array([event.ms for event in starts])
    end = np.array([event.ms for event in ends])
    return np.median(end - begin)
