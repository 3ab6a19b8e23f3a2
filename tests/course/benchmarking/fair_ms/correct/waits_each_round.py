"""Waits behind every round; the flush still stands between the wait and the event."""


def fair_ms(run, fresh_inputs, gpu):
    times = []
    for number in range(110):
        inputs = fresh_inputs()
        gpu.flush_l2()
        start = gpu.record()
        run(*inputs)
        end = gpu.record()
        gpu.synchronize()
        if number >= 50:
            times.append(end.ms - start.ms)
    times.sort()
    return times[len(times) // 2]
