"""Rounds go on until two medians agree."""

import torch
import triton
import triton.language as tl


def middle(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else 0.5 * (values[half - 1] + values[half])


class Stopwatch:
    def __init__(self, run, fresh_inputs, gpu):
        self.run, self.fresh_inputs, self.gpu = run, fresh_inputs, gpu

    def round(self, launches):
        batch = [self.fresh_inputs() for _ in range(launches)]
        starts, ends = [], []
        for inputs in batch:
            for _ in range(4):
                self.gpu.flush_l2()
            starts.append(self.gpu.record())
            self.run(*inputs)
            ends.append(self.gpu.record())
        self.gpu.synchronize()
        return [end.ms - start.ms for start, end in zip(starts, ends)]


def fair_ms(run, fresh_inputs, gpu) -> float:
    watch = Stopwatch(run, fresh_inputs, gpu)
    for _ in range(20):
        watch.round(15)
    last = middle(watch.round(15))
    for _ in range(20):
        times = watch.round(31)
        now = middle(times)
        if abs(now - last) <= 0.002 * now:
            break
        last = now
    return float(now)
