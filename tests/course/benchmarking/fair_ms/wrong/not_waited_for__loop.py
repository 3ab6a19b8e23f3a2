"""A hundred launches, divided by a hundred, and nobody waits."""

def fair_ms(run, fresh_inputs, gpu):
    run(*fresh_inputs())
    gpu.synchronize()
    inputs = fresh_inputs()
    start = gpu.clock()
    for _ in range(100):
        run(*inputs)
    return (gpu.clock() - start) / 100
