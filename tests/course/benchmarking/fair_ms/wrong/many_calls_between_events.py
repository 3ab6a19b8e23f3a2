"""One pair of events around all calls, divided by their number."""

def fair_ms(run, fresh_inputs, gpu):
    for _ in range(50):
        run(*fresh_inputs())
    inputs = fresh_inputs()
    gpu.flush_l2()
    start = gpu.record()
    for _ in range(50):
        run(*inputs)
    end = gpu.record()
    gpu.synchronize()
    return (end.ms - start.ms) / 50
