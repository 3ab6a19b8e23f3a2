"""It measures until two times in a row are equal."""

def fair_ms(run, fresh_inputs, gpu):
    last = None
    while True:
        inputs = fresh_inputs()
        gpu.flush_l2()
        start = gpu.record()
        run(*inputs)
        end = gpu.record()
        gpu.synchronize()
        if end.ms - start.ms == last:
            return last
        last = end.ms - start.ms
