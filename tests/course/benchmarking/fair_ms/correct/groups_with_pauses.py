"""The median of medians of five groups, with a wait between them, so that nothing gets hot."""


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def group(run, fresh_inputs, gpu, rounds):
    events = []
    for _ in range(rounds):
        inputs = fresh_inputs()
        gpu.flush_l2()
        events += [gpu.record()]
        run(*inputs)
        events += [gpu.record()]
    gpu.synchronize()
    times = [event.ms for event in events]
    return median(times[i + 1] - times[i] for i in range(0, len(times), 2))


def fair_ms(run, fresh_inputs, gpu):
    for _ in range(4):
        group(run, fresh_inputs, gpu, 15)
    return median([group(run, fresh_inputs, gpu, 11) for _ in range(5)])
