"""The mean of a loop by the host's clock, as in many repositories."""

def fair_ms(run, fresh_inputs, gpu):
    inputs = fresh_inputs()
    gpu.synchronize()
    start = gpu.clock()
    for _ in range(100):
        run(*inputs)
    gpu.synchronize()
    return (gpu.clock() - start) / 100
