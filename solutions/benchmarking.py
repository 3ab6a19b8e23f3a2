"""Model solutions of the lesson on benchmarking: GB/s and TFLOP/s, and a fair stopwatch."""

import torch


# %% throughput
def throughput(
    kind: str, shape: tuple[int, ...], dtype: torch.dtype, milliseconds: float
) -> tuple[float, float]:
    """Return (GB/s, TFLOP/s) for the least bytes and operations that the problem needs.

    kind: "copy", "vector_add", "softmax", "layernorm" or "transpose", with the shape of the input,
    or "matmul" with (m, k, n). Every input is read once, every output is written once, in `dtype`.
    An element costs 1 operation in vector_add, 5 in softmax, 8 in layernorm, none in copy and
    transpose; a multiplication and an addition are two.
    """
    # 1. How many elements are read and written? Each takes dtype.itemsize bytes.
    # 2. How many operations does the problem need?
    # 3. Divide both by the time. The units: a GB is 10**9 bytes, a millisecond 10**-3 s.
    ### BEGIN SOLUTION
    if kind == "matmul":
        m, k, n = shape
        moved, operations = m * k + k * n + m * n, 2 * m * k * n
    else:
        n_elements = torch.Size(shape).numel()
        weight_and_bias = 2 * shape[-1] if kind == "layernorm" else 0
        moved = (3 if kind == "vector_add" else 2) * n_elements + weight_and_bias
        per_element = {"copy": 0, "transpose": 0, "vector_add": 1, "softmax": 5, "layernorm": 8}
        operations = per_element[kind] * n_elements
    seconds = milliseconds * 1e-3
    return moved * dtype.itemsize / seconds * 1e-9, operations / seconds * 1e-12
    ### END SOLUTION


# %% fair_ms
def fair_ms(run, fresh_inputs, gpu) -> float:
    """Return the median milliseconds of the kernel that `run(*inputs)` launches.

    `run` returns at once; `fresh_inputs()` returns a tuple of inputs. `gpu.clock()` is the host's
    clock in ms, `gpu.synchronize()` waits for the GPU, `gpu.record()` puts an event into the GPU's
    queue, whose `.ms` can be read after the next synchronize, `gpu.flush_l2()` empties the L2
    cache. Measure the kernel alone, with fresh inputs and a cold cache, at the usual clock.
    """
    # 1. Warm up, so that the kernel is compiled and the clock is high. Then wait.
    # 2. Some dozens of times: new inputs, a cold cache, and the launch between two events.
    #    (What comes right before the launch? Is the GPU still busy with it?)
    # 3. Wait once, read the events, and take the median of the differences.
    ### BEGIN SOLUTION
    for _ in range(50):
        run(*fresh_inputs())
    gpu.synchronize()
    events = []
    for _ in range(51):
        inputs = fresh_inputs()
        gpu.flush_l2()  # after the inputs; during the flush the host gets ahead
        start = gpu.record()
        run(*inputs)
        events.append((start, gpu.record()))
    gpu.synchronize()
    times = sorted(end.ms - start.ms for start, end in events)
    return times[len(times) // 2]
    ### END SOLUTION
