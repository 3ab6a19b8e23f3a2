"""One pair of events around fifty calls, and no division."""

def fair_ms(run, fresh_inputs, gpu):
    for _ in range(50):
        run(*fresh_inputs())
    all_inputs = [fresh_inputs() for _ in range(50)]
    gpu.flush_l2()
    start = gpu.record()
    for inputs in all_inputs:
        run(*inputs)
    end = gpu.record()
    gpu.synchronize()
    return end.ms - start.ms
