"""A program that asks for CUDA by name and about the GPU, as published programs do."""

import inspect

import torch
import triton
import triton.language as tl
from triton.runtime import driver


@triton.jit
def add_one(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.autotune([triton.Config({"B": 32}), triton.Config({"B": 64})], key=["n"])
@triton.jit
def tuned(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert x.is_cuda
        assert x.device.type == "cuda"
        y = torch.empty_like(x)
        with torch.cuda.device(x.device):
            add_one[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)
        return y

    @staticmethod
    def backward(ctx, grad):
        assert grad.is_cuda
        return grad + torch.zeros(grad.shape, device="cuda")


def moves():
    host = torch.rand(5)
    there = host.cuda()
    there += 1
    assert not torch.equal(host, there.cpu())
    assert there.to("cuda").data_ptr() == there.data_ptr()
    back = there.to("cpu")
    back += 1
    assert not torch.equal(back, there)
    generator = torch.Generator(device="cuda").manual_seed(3)
    assert torch.rand(2, generator=generator, device="cuda").is_cuda
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda


def training():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).to("cuda")
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loss = AddOne.apply(model(torch.rand(4, 8, device="cuda"))).square().mean()
    loss.backward()
    optimiser.step()


def compiled():
    x, y = torch.zeros(100, device="cuda"), torch.empty(100, device="cuda")
    index = torch.cuda.current_device()
    processors = driver.active.utils.get_device_properties(index)["multiprocessor_count"]
    kernel = add_one.warmup(x, y, 100, B=64, num_warps=4, grid=(1,))
    kernel._init_handles()
    assert kernel.n_regs > 0
    assert kernel.n_spills == 0
    assert "ld.global" in kernel.asm["ptx"]
    kernel[(min(processors, 2), 1, 1)](x, y, 100, 64)
    assert y.sum().item() == 100


def times():
    x, y = torch.zeros(4096, device="cuda"), torch.empty(4096, device="cuda")
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        tuned[lambda meta: (triton.cdiv(4096, meta["B"]),)](x, y, 4096)
        end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    grid = (64,)
    assert triton.testing.do_bench(lambda: add_one[grid](x, y, 4096, B=64)) > 0
    assert triton.testing.do_bench_cudagraph(lambda: add_one[grid](x, y, 4096, B=64)) > 0
    report = triton.testing.Benchmark(
        x_names=["n"], x_vals=[64, 1 << 40], line_arg="who", line_vals=["a"], line_names=["a"],
        styles=None, ylabel="GB/s", plot_name="sizes", args={},
    )  # fmt: skip
    triton.testing.perf_report(report)(lambda n, who: torch.empty(n, device="cuda")).run()


def graphs():
    """A graph runs nothing while it is captured, and all of it at each replay."""
    x, y = torch.zeros(100, device="cuda"), torch.full((100,), 7.0, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
        assert torch.cuda.is_current_stream_capturing()
        doubled = x * 2
        add_one[(2,)](doubled, y, 100, B=64)
        y += 1
    assert not torch.cuda.is_current_stream_capturing()
    assert y.sum().item() == 700
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        assert torch.equal(y, 2 * x + 2)


def queries():
    """Each public function that needs no argument has an answer."""
    left = []
    for module in (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.accelerator):
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isfunction(function) or name in ASKS_FOR_MORE:
                continue
            parameters = inspect.signature(function).parameters.values()
            if all(p.default is not p.empty or p.kind in (2, 4) for p in parameters):
                try:
                    function()
                except Exception as error:
                    left.append(f"{module.__name__}.{name}: {error!r}")
    assert not left, left
    assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == 0
    torch.cuda.nvtx.range_push("step")
    torch.cuda.nvtx.range_pop()
    torch.cuda.profiler.start()
    torch.cuda.set_rng_state(torch.cuda.get_rng_state())


def profiled():
    import triton.profiler as proton

    session = proton.start("add", hook="triton")
    proton.deactivate(session)
    proton.activate(session)
    with proton.scope("one"):
        add_one[(2,)](torch.zeros(100, device="cuda"), torch.empty(100, device="cuda"), 100, B=64)
    proton.finalize()


# Their parameters are hidden behind *args.
ASKS_FOR_MORE = {
    "can_device_access_peer", "get_stream_from_external", "make_graphed_callables",
    "set_rng_state", "set_rng_state_all",
}  # fmt: skip


if __name__ == "__main__":
    assert torch.cuda.is_available()
    assert torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.get_device_properties("cuda").multi_processor_count == 132
    torch.cuda.manual_seed(0)
    moves()
    training()
    compiled()
    times()
    graphs()
    queries()
    profiled()
    print("all right")
