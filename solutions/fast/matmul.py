"""Fast forms of the lesson on matrix multiplication; hopper_matmul.py has the kernel and why.

What its tiles do not fit (float32, other GPUs, strides that TMA cannot follow) goes to the
plain form.
"""

import torch

from solutions import matmul as plain
from solutions.fast.hopper_matmul import can_multiply, hopper_matmul


# %% matmul
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b; the contract is that of the plain form."""
    return hopper_matmul(a, b) if can_multiply(a, b) else plain.matmul(a, b)


# %% linear_bias_relu
def linear_bias_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w.T + b); the contract is that of the plain form."""
    if can_multiply(x, w.mT) and b.stride(0) == 1:
        return hopper_matmul(x, w.mT, b)
    return plain.linear_bias_relu(x, w, b)
