"""One pair of events, nothing before it."""

def fair_ms(run, fresh_inputs, gpu):
    inputs = fresh_inputs()
    gpu.flush_l2()
    start = gpu.record()
    run(*inputs)
    end = gpu.record()
    gpu.synchronize()
    return end.ms - start.ms
