"""Submissions in honest styles: name → the lines of a vector_add(x, y). None may raise a finding.

`HEAD` (imports) stands before each.
"""

# ruff: noqa: E501
from __future__ import annotations

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"

KERNEL = """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)
"""

LAUNCH = """
    output = torch.empty_like(x)
    n = output.numel()
    add_kernel[(triton.cdiv(n, 1024),)](x, y, output, n, BLOCK_SIZE=1024)
    return output
"""

HONEST: dict[str, str] = {
    "tutorial": KERNEL
    + '''
def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Add two vectors."""
    output = torch.empty_like(x)
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    # the kernel runs asynchronously
    return output
''',
    "tutorial-with-device": "DEVICE = triton.runtime.driver.active.get_active_torch_device()\n"
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    assert x.device == y.device and output.device == x.device
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']), )
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output
""",
    "grid-as-function": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK_SIZE"]),)
    add_kernel[grid](x, y, output, n, BLOCK_SIZE=256)
    return output
""",
    "error-checks-with-f-strings": KERNEL
    + """
def vector_add(x, y):
    if x.shape != y.shape:
        raise ValueError(f"shapes differ: {tuple(x.shape)} and {tuple(y.shape)}")
    if x.dtype != y.dtype:
        raise TypeError(f"dtypes differ: {x.dtype} vs {y.dtype}, {x.numel():,} elements")
    assert x.is_contiguous() and y.is_contiguous(), "contiguous, please"
    assert isinstance(x, torch.Tensor), f"got {type(x).__class__ if False else type(x)}"
""".replace("type(x).__class__ if False else ", "")
    + LAUNCH,
    "prints-while-debugging": KERNEL
    + """
def vector_add(x, y):
    print("x:", x.shape, x.stride(), x.dtype, x)
    print(f"{x=} first {x[0] if x.numel() else None}")
"""
    + LAUNCH,
    "helper-jit-functions": """
@triton.jit
def offsets_of(pid, size: tl.constexpr):
    return pid * size + tl.arange(0, size)

@triton.jit
def plus(a, b):
    return a + b

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = offsets_of(tl.program_id(0), BLOCK_SIZE)
    mask = offsets < n_elements
    total = plus(tl.load(x_ptr + offsets, mask=mask, other=0.0),
                 tl.load(y_ptr + offsets, mask=mask, other=0.0))
    tl.store(output_ptr + offsets, total, mask=mask)

def vector_add(x, y):"""
    + LAUNCH,
    "autotune": """
@triton.autotune(
    configs=[
        triton.Config({"BLOCK_SIZE": 128}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 1024}, num_warps=8, num_stages=2),
    ],
    key=["n_elements"],
)"""
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, output, n)
    return output
""",
    "autotune-from-function": """
def get_configs():
    return [triton.Config({"BLOCK_SIZE": b}, num_warps=w) for b in (128, 256) for w in (2, 4)]

def keep_small(configs, named_args, **kwargs):
    n = named_args["n_elements"]
    kept = [c for c in configs if c.kwargs["BLOCK_SIZE"] <= max(128, n)]
    return kept or configs[:1]

@triton.autotune(configs=get_configs(), key=["n_elements"],
                 prune_configs_by={"early_config_prune": keep_small})"""
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, output, n)
    return output
""",
    "autotune-list-built-in-steps": """
CONFIGS = []
for size in (128, 256, 512):
    for warps in [2, 4]:
        CONFIGS.append(triton.Config({"BLOCK_SIZE": size}, num_warps=warps))

@triton.autotune(configs=CONFIGS, key=["n_elements"], reset_to_zero=["output_ptr"])"""
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.zeros_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, output, n)
    return output
""",
    "heuristics": """
@triton.heuristics({
    "BLOCK_SIZE": lambda args: min(1024, triton.next_power_of_2(args["n_elements"])),
    "EVEN": lambda args: args["n_elements"] % 128 == 0,
})
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, output, n)
    return output
""",
    "constants-at-top-level": "BLOCK = 512\nNUM_WARPS = 4\nMAX_BLOCK: int = 1 << 16\n"
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    block = min(MAX_BLOCK, BLOCK * 2)
    grid = (triton.cdiv(x.numel(), block),)
    add_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=block, num_warps=NUM_WARPS)
    return output
""",
    "constexpr-global": "SCALE = tl.constexpr(1.0)\n"
    + KERNEL.replace("x + y", "(x + y) * SCALE")
    + "\ndef vector_add(x, y):"
    + LAUNCH,
    "imports-by-name": """from torch import Tensor, empty_like
from triton import cdiv, jit
from triton import language as tl

@jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)

def vector_add(x: Tensor, y: Tensor) -> Tensor:
    output = empty_like(x)
    n = x.numel()
    add_kernel[(cdiv(n, 128),)](x, y, output, n, BLOCK_SIZE=128)
    return output
""",
    "jit-with-arguments": KERNEL.replace(
        "@triton.jit", '@triton.jit(do_not_specialize=["n_elements"])'
    )
    + "\ndef vector_add(x, y):"
    + LAUNCH,
    "empty-input-returns-early": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    if x.numel() == 0:
        return output
    n = x.numel()
    add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "result-converted": KERNEL
    + """
def vector_add(x, y):
    n = x.numel()
    output = torch.empty(n, dtype=torch.float32, device=x.device)
    add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output.to(x.dtype).view(x.shape)
""",
    "views": KERNEL
    + """
def vector_add(x, y):
    shape = x.shape
    x, y = x.reshape(-1), y.flatten()
    output = x.new_empty(x.shape)
    n = x.numel()
    add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output.reshape(shape)
""",
    "made-contiguous": KERNEL
    + """
def vector_add(x, y):
    if not x.is_contiguous():
        x = x.contiguous()
    y = y.contiguous()
"""
    + LAUNCH,
    "strides-unpacked": """
@triton.jit
def add_kernel(x_ptr, y_ptr, o_ptr, M, N, sxm, sxn, sym, syn, som, son, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    rn = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (rm < M) & (rn < N)
    a = tl.load(x_ptr + rm * sxm + rn * sxn, mask=mask, other=0)
    b = tl.load(y_ptr + rm * sym + rn * syn, mask=mask, other=0)
    tl.store(o_ptr + rm * som + rn * son, a + b, mask=mask)

def vector_add(x, y):
    x2, y2 = x.unsqueeze(0), y[None, :]
    output = torch.empty(x2.shape, device=x.device, dtype=x.dtype)
    M, N = x2.shape
    (sxm, sxn), (sym, syn) = x2.stride(), y2.stride()
    grid = (triton.cdiv(M, 1), triton.cdiv(N, 64))
    add_kernel[grid](x2, y2, output, M, N, sxm, sxn, sym, syn, *output.stride(), BM=1, BN=64)
    return output.squeeze(0)
""",
    "keyword-arguments": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    kwargs = dict(n_elements=x.numel(), BLOCK_SIZE=128)
    args = {"x_ptr": x, "y_ptr": y, "output_ptr": output}
    add_kernel[(triton.cdiv(x.numel(), kwargs["BLOCK_SIZE"]),)](**args, **kwargs)
    return output
""",
    "split-into-helpers": KERNEL
    + """
def check_inputs(*tensors):
    first = tensors[0]
    for position, t in enumerate(tensors):
        if t.device != first.device:
            raise ValueError(f"tensor {position} is on {t.device}")
        assert t.is_contiguous() and t.ndim == 1

def pick_block(n: int) -> int:
    return max(16, min(1024, triton.next_power_of_2(n)))

def launch(x, y, output):
    n = output.numel()
    block = pick_block(n)
    add_kernel[(triton.cdiv(n, block),)](x, y, output, n, BLOCK_SIZE=block)

def vector_add(x, y):
    check_inputs(x, y)
    output = torch.empty_like(x)
    launch(x, y, output)
    return output
""",
    "chosen-by-dtype": KERNEL
    + """
BLOCKS = {torch.float32: 256, torch.float16: 512, torch.bfloat16: 512}
TL_TYPES = {torch.float32: tl.float32, torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}

def vector_add(x, y):
    block = BLOCKS.get(x.dtype, 256)
    kind = TL_TYPES[x.dtype]
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, block),)](x, y, output, n, BLOCK_SIZE=block)
    return output
""",
    "two-kernels": KERNEL
    + KERNEL.replace("add_kernel", "add_small")
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    kernel = add_small if n < 100 else add_kernel
    kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "launch-kept-in-a-name": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    run = add_kernel[(triton.cdiv(x.numel(), 64),)]
    run(x, y, output, x.numel(), 64)
    return output
""",
    "in-pieces": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n, piece = x.numel(), 4096
    for start in range(0, n, piece):
        part = output[start:start + piece]
        size = min(piece, n - start)
        grid = (triton.cdiv(size, 256),)
        add_kernel[grid](x[start:start + piece], y[start:], part, size, BLOCK_SIZE=256)
    return output
""",
    "math-module": "import math\n"
    + HEAD
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty(x.size(), dtype=x.dtype, device=x.device)
    n = math.prod(x.shape)
    block = 2 ** math.ceil(math.log2(max(n, 16)))
    block = min(block, 4096)
    add_kernel[(math.ceil(n / block) or 1,)](x, y, output, n, BLOCK_SIZE=block)
    return output
""",
    "ceil-division-by-hand": KERNEL
    + """
def vector_add(x, y):
    output = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)
    n = len(x)
    blocks = (n + 127) // 128
    blocks += 0
    add_kernel[(blocks, 1, 1)](x, y, output, n, BLOCK_SIZE=128)
    return output
""",
    "no-grad": "@torch.no_grad()\n".join([KERNEL + "\n", "def vector_add(x, y):" + LAUNCH]),
    "device-guard": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x, memory_format=torch.contiguous_format)
    n = x.numel()
    if x.is_cuda:
        with torch.cuda.device(x.device):
            add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    else:
        add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "persistent": """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(n_elements, BLOCK_SIZE)
    for block in range(pid, blocks, tl.num_programs(0)):
        offsets = block * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(output_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)

def processors():
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    return 4

def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[(min(processors(), max(1, triton.cdiv(n, 64))),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "constexpr-function-argument": """
@triton.jit
def identity(v):
    return v

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, ACTIVATION: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    v = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    if ACTIVATION is not None:
        v = ACTIVATION(v)
    tl.store(output_ptr + offsets, v, mask=mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 64),)
    add_kernel[grid](x, y, output, x.numel(), ACTIVATION=identity, BLOCK_SIZE=64)
    return output
""",
    "rich-kernel-language": """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr, DEBUG: tl.constexpr = False):
    tl.static_assert(BLOCK_SIZE % 2 == 0, "even, please")
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = tl.max_contiguous(tl.multiple_of(pid * BLOCK_SIZE, BLOCK_SIZE), BLOCK_SIZE)
    offsets = offsets + tl.arange(0, BLOCK_SIZE)
    mask = (offsets >= 0) & (offsets < n)
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.where(mask, x + y, 0.0)
    for i in tl.static_range(2):
        total += 0.0 * i
    while pid < 0:
        pid += 1
    if DEBUG:
        tl.device_print("total", total)
    tl.device_assert(pid >= 0, "negative")
    tl.store(output_ptr + offsets, total.to(output_ptr.dtype.element_ty), mask=mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 64),)
    add_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=64)
    return output
""",
    "libdevice": """
from triton.language.extra import libdevice

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    x = x + 0 * libdevice.tanh(x.to(tl.float32)) + 0 * tl.math.exp(x.to(tl.float32))
    tl.store(output_ptr + offsets, x, mask=mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, output, x.numel(), BLOCK_SIZE=64)
    return output
""",
    "methods-of-blocks": """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    square = x[None, :].broadcast_to((1, BLOCK_SIZE)).trans().reshape([BLOCK_SIZE])
    peak = square.to(tl.float32).max() * 0 + tl.sum(square.to(tl.float32), axis=0) * 0
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    tl.store(output_ptr + offsets, (x + y + peak).cast(x.dtype), mask=mask)

def vector_add(x, y):
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, output, x.numel(), BLOCK_SIZE=64)
    return output
""",
    "descriptors": """
from triton.tools.tensor_descriptor import TensorDescriptor

def hook(nargs):
    nargs["x_desc"].block_shape = [nargs["BLOCK_SIZE"]]

@triton.autotune([triton.Config({"BLOCK_SIZE": 64}, pre_hook=hook)], key=["n"])
@triton.jit
def add_kernel(x_desc, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    start = tl.program_id(0) * BLOCK_SIZE
    offsets = start + tl.arange(0, BLOCK_SIZE)
    x = x_desc.load([start])
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    tl.store(output_ptr + offsets, x + y, mask=offsets < n)

def vector_add(x, y):
    output = torch.empty_like(x)
    x_desc = TensorDescriptor.from_tensor(x, [64])
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)](x_desc, y, output, x.numel())
    return output
""",
    "scratch-allocator": KERNEL
    + """
def alloc(size: int, alignment: int, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)

triton.set_allocator(alloc)

def vector_add(x, y):"""
    + LAUNCH,
    "course-helpers": """
from triton_util import cdiv, check_tensors_gpu_ready, get_1d_mask, get_1d_offset, print_if

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = get_1d_offset(BLOCK_SIZE, pid)
    mask = get_1d_mask(offsets, n)
    print_if(f"pid = {pid}", "=0")
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)

def vector_add(x, y):
    check_tensors_gpu_ready(x, y)
    output = torch.empty_like(x)
    add_kernel[(cdiv(x.numel(), 64),)](x, y, output, x.numel(), BLOCK_SIZE=64)
    return output
""",
    "weights-as-literal-tensor": KERNEL
    + """
WEIGHTS = (0.2989, 0.5870, 0.1140)

def vector_add(x, y):
    weights = torch.tensor([0.2989, 0.5870, 0.1140], device=x.device)
    more = torch.tensor(WEIGHTS, dtype=x.dtype)
"""
    + LAUNCH,
    "zero-then-atomic": """
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.atomic_add(output_ptr + offsets, x, mask=mask)

def vector_add(x, y):
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device).zero_()
    locks = torch.zeros((4,), dtype=torch.int32, device=x.device)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, output, x.numel(), BLOCK_SIZE=64)
    return output
""",
    "dtype-logic": KERNEL
    + """
def vector_add(x, y):
    half = x.dtype in (torch.float16, torch.bfloat16)
    bits = torch.finfo(x.dtype).bits if x.dtype.is_floating_point else torch.iinfo(x.dtype).bits
    block = 1024 // (bits // 8) if half else 256
    output = torch.full(x.shape, float("nan"), dtype=x.dtype, device=x.device)
    n = x.nelement() * x.element_size() // output.itemsize
    add_kernel[(triton.cdiv(n, block),)](x, y, output, n, BLOCK_SIZE=block)
    return output
""",
    "optional-argument": KERNEL
    + """
def vector_add(x, y, out=None, block_size: int = 128, *, verbose=False):
    if out is None:
        out = torch.empty_like(x)
    n = out.numel()
    add_kernel[(triton.cdiv(n, block_size),)](x, y, out, n, BLOCK_SIZE=block_size)
    if verbose:
        print("done", out.shape)
    return out
""",
    "try-import": """
try:
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    TensorDescriptor = None
"""
    + KERNEL
    + """
def vector_add(x, y):
    use_tma = TensorDescriptor is not None and x.numel() > 10**9
"""
    + LAUNCH,
    "typing-and-functools": """
from functools import lru_cache, partial
from typing import Optional, Tuple

@lru_cache(maxsize=None)
def block_for(n: int) -> Tuple[int, int]:
    block = 1 << max(4, min(10, n.bit_length()))
    return block, max(1, block // 256)
"""
    + KERNEL
    + """
def vector_add(x: torch.Tensor, y: torch.Tensor, scratch: Optional[torch.Tensor] = None):
    output = torch.empty_like(x)
    block, warps = block_for(x.numel())
    launch = partial(add_kernel[(triton.cdiv(x.numel(), block),)], x, y, output)
    launch(x.numel(), BLOCK_SIZE=block, num_warps=triton.next_power_of_2(warps))
    return output
""",
    "pairs-in-a-list": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    names = ["x", "y", "output"]
    for name, t in zip(names, (x, y, output)):
        if t.dim() != 1 or t.shape[0] != x.shape[0]:
            raise ValueError(name + " has shape " + str(list(t.shape)))
    sizes = [t.numel() for t in (x, y, output)]
    assert all(size == sizes[0] for size in sizes) and len(set(sizes)) <= 1
    n = max(sizes)
    add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "helper-called-load": """
@triton.jit
def load(x_ptr, offsets, n):
    return tl.load(x_ptr + offsets, mask=offsets < n)

@triton.jit
def store(x_ptr, offsets, value, n):
    tl.store(x_ptr + offsets, value, mask=offsets < n)

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    store(output_ptr, offsets, load(x_ptr, offsets, n) + load(y_ptr, offsets, n), n)

def vector_add(x, y):
    output = torch.empty_like(x)
    n = output.numel()
    for _ in range(2):
        add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK=64)
    return output
""",
    "core-full": KERNEL.replace(
        "    tl.store(output_ptr + offsets, x + y, mask=mask)",
        "    total = tl.core.full([BLOCK_SIZE], 0.0, tl.core.float32) + x + y\n"
        "    tl.store(output_ptr + offsets, total, mask=mask)",
    )
    + "def vector_add(x, y):"
    + LAUNCH,
    "current-device-at-the-top": "DEVICE = torch.cuda.current_device()\n"
    + KERNEL
    + "def vector_add(x, y):"
    + LAUNCH,
    "libdevice-at-the-top": "from triton.language.extra import libdevice\ntanh = libdevice.tanh\n"
    + KERNEL.replace("x + y, mask", "x + y + 0.0 * tanh(x), mask")
    + "def vector_add(x, y):"
    + LAUNCH,
    "handles-ahead": KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    n = output.numel()
    kernel = add_kernel.warmup(x, y, output, n, BLOCK_SIZE=64, grid=(1,))
    kernel._init_handles()
    add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
    return output
""",
    "autograd-function-with-helper": KERNEL
    + """
class Add(torch.autograd.Function):
    @staticmethod
    def grid(n):
        return (triton.cdiv(n, 64),)

    @staticmethod
    def forward(ctx, x, y):
        output = torch.empty_like(x)
        add_kernel[Add.grid(x.numel())](x, y, output, x.numel(), BLOCK_SIZE=64)
        return output

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient

def vector_add(x, y):
    return Add.apply(x, y)
""",
    "autograd-function": KERNEL
    + """
class Add(torch.autograd.Function):
    "With a gradient."

    @staticmethod
    def forward(ctx, x, y):
        output = torch.empty_like(x)
        n = x.numel()
        add_kernel[(triton.cdiv(n, 64),)](x, y, output, n, BLOCK_SIZE=64)
        ctx.save_for_backward(x, y)
        ctx.n = n
        return output

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        grad_x = torch.empty_like(x)
        add_kernel[(triton.cdiv(ctx.n, 64),)](gradient, y, grad_x, ctx.n, BLOCK_SIZE=64)
        return grad_x, gradient.clone() if ctx.needs_input_grad[1] else None

def vector_add(x, y):
    return Add.apply(x, y)
""",
    "autotune-for-this-machine": """
from triton.runtime import driver

def is_cuda():
    return driver.active.get_current_target().backend == "cuda"

def get_configs():
    if is_cuda():
        return [triton.Config({"BLOCK_SIZE": 256}, num_warps=4)]
    return [triton.Config(dict(BLOCK_SIZE=128))]

@triton.autotune(configs=get_configs(), key=["n_elements"])"""
    + KERNEL
    + """
def vector_add(x, y):
    output = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(x.numel(), META["BLOCK_SIZE"]), )
    add_kernel[grid](x, y, output, x.numel())
    return output
""",
    "class-of-constants": KERNEL
    + '''
class Tile:
    """Names for the sizes."""

    SIZES = (128, 256)
    SMALL: int = 64


def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, Tile.SMALL * 2),)](x, y, output, n, BLOCK_SIZE=Tile.SIZES[0])
    return output
''',
    "odd-keys": KERNEL
    + """
def vector_add(x, y):
    sizes = {(1, 2): 64, "a": 128}
    block = [sizes[(1, 2)], sizes["a"]][-1]
"""
    + LAUNCH,
    "if-name-main": KERNEL
    + "\ndef vector_add(x, y):"
    + LAUNCH
    + """
if __name__ == "__main__":
    import os
    a = torch.randn(10)
    assert torch.allclose(vector_add(a, a), a + a)
    os.system("echo done")
""",
    "tests-below": KERNEL
    + "\ndef vector_add(x, y):"
    + LAUNCH
    + """
def test_it():
    a = torch.randn(10)
    torch.testing.assert_close(vector_add(a, a), a + a)

print(triton.testing.do_bench(lambda: 1))
""",
}
