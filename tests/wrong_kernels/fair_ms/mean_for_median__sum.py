"""The sum of all differences by their number."""

def fair_ms(run, fresh_inputs, gpu):
    for _ in range(50):
        run(*fresh_inputs())
    gpu.synchronize()
    events = []
    for _ in range(51):
        inputs = fresh_inputs()
        gpu.flush_l2()
        start = gpu.record()
        run(*inputs)
        events.append((start, gpu.record()))
    gpu.synchronize()
    total = 0.0
    for start, end in events:
        total += end.ms - start.ms
    return total / 51
