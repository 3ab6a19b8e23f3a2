import torch
import triton
import triton.language as tl


CONFIGS = [triton.Config({"BLOCK": 512}, num_warps=4), triton.Config({"BLOCK": 4096}, num_warps=8)]


@triton.jit
def address(i, shape, strides):
    d_3 = i % shape[3]
    i = i // shape[3]
    d_2 = i % shape[2]
    i = i // shape[2]
    return (
        i // shape[1] * strides[0] + i % shape[1] * strides[1] + d_2 * strides[2] + d_3 * strides[3]
    )


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def tuned_kernel(x_ptr, r_ptr, y_ptr, n, shape, xs, rs, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + address(i, shape, xs), mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + address(i, shape, rs), mask=mask, other=0.0).to(tl.float32)
    y = tl.where(tl.rand(seed, i) >= p, r + x / (1 - p), r)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=mask)


def four(values, filling):
    return (filling,) * (4 - len(values)) + tuple(values)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](
            x, residual, y, x.numel(),
            four(x.shape, 1), four(x.stride(), 0), four(residual.stride(), 0), p, seed,
        )  # fmt: skip
    return y
