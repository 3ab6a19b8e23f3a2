"""One launch, one wait."""

def fair_ms(run, fresh_inputs, gpu):
    inputs = fresh_inputs()
    gpu.synchronize()
    before = gpu.clock()
    run(*inputs)
    gpu.synchronize()
    after = gpu.clock()
    return after - before
