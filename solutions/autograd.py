"""Model solutions of the lesson on gradients: softmax and a linear layer, backward."""

import torch
import triton
import triton.language as tl


# %% softmax_backward
@triton.jit
def softmax_backward_kernel(
    y_ptr, dy_ptr, output_ptr, n_cols,
    y_strides, dy_strides, output_strides,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    """Compute one row of y * (dy - sum(dy * y)), in blocks of BLOCK_SIZE columns.

    All three have n_cols columns. The strides are pairs, counted in elements.
    """
    # 1. Find the program's row. Move the three pointers there.
    # 2. Pass over the row once, and sum dy * y in float32.
    # 3. Pass over it again: load, compute, store.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    row = tl.program_id(axis=0).to(tl.int64)
    y_ptr += row * y_strides[0]
    dy_ptr += row * dy_strides[0]
    output_ptr += row * output_strides[0]
    products = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in tl.range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        y = tl.load(y_ptr + cols * y_strides[1], mask=cols < n_cols, other=0.0)
        dy = tl.load(dy_ptr + cols * dy_strides[1], mask=cols < n_cols, other=0.0)
        products += y.to(tl.float32) * dy.to(tl.float32)
    row_sum = tl.sum(products, axis=0)
    for start in tl.range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        y = tl.load(y_ptr + cols * y_strides[1], mask=cols < n_cols, other=0.0)
        dy = tl.load(dy_ptr + cols * dy_strides[1], mask=cols < n_cols, other=0.0)
        dx = y.to(tl.float32) * (dy.to(tl.float32) - row_sum)
        dx = dx.to(output_ptr.dtype.element_ty)
        tl.store(output_ptr + cols * output_strides[1], dx, mask=cols < n_cols)
    ### END SOLUTION


def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Return the gradient of a row-wise softmax: y * (dy - sum(dy * y)), the sum along rows.

    y: (m, n), the output of softmax; dy: (m, n), the gradient of that output. Any strides,
    0 too; one dtype (float32, float16 or bfloat16). The result is new and contiguous.
    """
    output = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    block_size = min(4096, triton.next_power_of_2(y.shape[1]))
    softmax_backward_kernel[(y.shape[0],)](
        y, dy, output, y.shape[1],
        y.stride(), dy.stride(), output.stride(),
        BLOCK_SIZE=max(16, block_size),
    )  # fmt: skip
    return output


# %% linear_bias_relu_backward
@triton.jit
def gradient_tile(dout_ptr, out_ptr, dout_strides, out_strides, rows, cols, n_rows, n_cols):
    """Load a tile of dout, with 0 where out is not above 0, and outside the matrix."""
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    dout_ptrs = dout_ptr + rows[:, None] * dout_strides[0] + cols[None, :] * dout_strides[1]
    out_ptrs = out_ptr + rows[:, None] * out_strides[0] + cols[None, :] * out_strides[1]
    out = tl.load(out_ptrs, mask=mask, other=0.0)
    return tl.where(out > 0, tl.load(dout_ptrs, mask=mask, other=0.0), 0.0)


@triton.jit
def matrix_tile(ptr, strides, rows, cols, n_rows, n_cols):
    """Load a tile of a matrix, with 0 outside."""
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    ptrs = ptr + rows[:, None] * strides[0] + cols[None, :] * strides[1]
    return tl.load(ptrs, mask=mask, other=0.0)


@triton.jit
def store_tile(ptr, strides, rows, cols, n_rows, n_cols, tile):
    """Store the part of a tile that is inside the matrix, in the matrix's dtype."""
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    ptrs = ptr + rows[:, None] * strides[0] + cols[None, :] * strides[1]
    tl.store(ptrs, tile.to(ptr.dtype.element_ty), mask=mask)


@triton.jit
def dx_kernel(
    w_ptr, out_ptr, dout_ptr, dx_ptr, M, N, K,
    w_strides, out_strides, dout_strides, dx_strides, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute one BLOCK x BLOCK tile of dx = g @ w, where g is dout masked by out > 0.

    out and dout have shape (M, N), w (N, K), dx (M, K). Strides are pairs.
    """
    # 1. Compute the program's rows and columns of dx.
    # 2. Loop along N: a tile of g (`gradient_tile`) times a tile of w (`matrix_tile`).
    # 3. Store (`store_tile`).
    ### BEGIN SOLUTION
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in tl.range(0, N, BLOCK):
        inner = start + tl.arange(0, BLOCK).to(tl.int64)
        g = gradient_tile(dout_ptr, out_ptr, dout_strides, out_strides, rows, inner, M, N)
        w = matrix_tile(w_ptr, w_strides, inner, cols, N, K)
        accumulator = tl.dot(g, w, accumulator, input_precision="ieee")
    store_tile(dx_ptr, dx_strides, rows, cols, M, K, accumulator)
    ### END SOLUTION


@triton.jit
def dw_db_kernel(
    x_ptr, out_ptr, dout_ptr, dw_ptr, db_ptr, M, N, K,
    x_strides, out_strides, dout_strides, dw_strides, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute one BLOCK x BLOCK tile of dw = g.T @ x, and in the first column of tiles also db.

    x has shape (M, K), out and dout (M, N), dw (N, K), db (N,). Strides are pairs; db is
    contiguous.
    """
    # 1. Compute the program's rows of dw (they are columns of g) and its columns.
    # 2. Loop along M: the transposed tile of g times a tile of x; sum the columns of g.
    # 3. Store the tile of dw. Only one program stores each block of db.
    ### BEGIN SOLUTION
    rows = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    column_sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in tl.range(0, M, BLOCK):
        inner = start + tl.arange(0, BLOCK).to(tl.int64)
        g = gradient_tile(dout_ptr, out_ptr, dout_strides, out_strides, inner, rows, M, N)
        x = matrix_tile(x_ptr, x_strides, inner, cols, M, K)
        accumulator = tl.dot(g.T, x, accumulator, input_precision="ieee")
        column_sums += tl.sum(g.to(tl.float32), axis=0)
    store_tile(dw_ptr, dw_strides, rows, cols, N, K, accumulator)
    if tl.program_id(axis=1) == 0:
        tl.store(db_ptr + rows, column_sums.to(db_ptr.dtype.element_ty), mask=rows < N)
    ### END SOLUTION


def linear_bias_relu_backward(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients (dx, dw, db) of out = relu(x @ w.T + b), given dout.

    x: (m, k), w: (n, k), out and dout: (m, n), any strides, 0 too; one dtype (float32, float16
    or bfloat16). Sums are float32. The results are new and contiguous, in the dtype of x and w.
    """
    (m, k), n = x.shape, w.shape[0]
    dx = torch.empty((m, k), dtype=x.dtype, device=x.device)
    dw = torch.empty((n, k), dtype=w.dtype, device=w.device)
    db = torch.empty((n,), dtype=w.dtype, device=w.device)
    block = 32
    dx_kernel[(triton.cdiv(m, block), triton.cdiv(k, block))](
        w, out, dout, dx, m, n, k,
        w.stride(), out.stride(), dout.stride(), dx.stride(), BLOCK=block,
    )  # fmt: skip
    # At least one column of tiles, so that db is computed even where x has no columns.
    dw_db_kernel[(triton.cdiv(n, block), max(1, triton.cdiv(k, block)))](
        x, out, dout, dw, db, m, n, k,
        x.stride(), out.stride(), dout.stride(), dw.stride(), BLOCK=block,
    )  # fmt: skip
    return dx, dw, db
