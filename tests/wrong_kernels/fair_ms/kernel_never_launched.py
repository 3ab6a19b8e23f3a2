"""The kernel is built into a list, and never run."""

def fair_ms(run, fresh_inputs, gpu):
    events, launches = [], []
    for _ in range(51):
        inputs = fresh_inputs()
        gpu.flush_l2()
        start = gpu.record()
        launches = [run, inputs]
        events.append((start, gpu.record()))
    gpu.synchronize()
    times = sorted(end.ms - start.ms for start, end in events)
    return times[len(times) // 2]
