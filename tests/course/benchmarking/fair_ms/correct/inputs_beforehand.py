"""All inputs are made before the first round; the flush makes all of them cold."""

import statistics


def fair_ms(run, fresh_inputs, gpu):
    for inputs in [fresh_inputs() for _ in range(50)]:
        run(*inputs)
    waiting = [fresh_inputs() for _ in range(35)]
    gpu.synchronize()
    marks = []
    for inputs in waiting:
        gpu.flush_l2()
        marks.append(gpu.record())
        run(*inputs)
        marks.append(gpu.record())
    gpu.synchronize()
    times = [event.ms for event in marks]
    return statistics.median(b - a for a, b in zip(times[::2], times[1::2]))
