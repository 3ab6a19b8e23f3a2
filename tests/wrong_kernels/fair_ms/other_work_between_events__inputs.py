"""Making the inputs lies between the events."""

def fair_ms(run, fresh_inputs, gpu):
    for _ in range(50):
        run(*fresh_inputs())
    gpu.synchronize()
    events = []
    for _ in range(51):
        gpu.flush_l2()
        start = gpu.record()
        run(*fresh_inputs())
        events.append((start, gpu.record()))
    gpu.synchronize()
    times = sorted(end.ms - start.ms for start, end in events)
    return times[len(times) // 2]
