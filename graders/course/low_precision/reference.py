"""Products of numbers with 4 and with 8 bits."""

from __future__ import annotations

import torch

PER_WORD = 8  # 4-bit numbers in one int32
LOWEST_FIRST = tuple(range(PER_WORD))


def unpacked(packed: torch.Tensor, order: tuple[int, ...] = LOWEST_FIRST) -> torch.Tensor:
    """Return the 4-bit numbers of (k / 8, n) words, as (k, n) in 0…15.

    `order` names for each of eight neighbours along k the nibble that it comes from.
    """
    shifts = 4 * torch.tensor(order, device=packed.device)[:, None]
    nibbles = (packed.to(torch.int64)[:, None, :] >> shifts) & 0xF
    return nibbles.reshape(PER_WORD * packed.shape[0], packed.shape[1])


def spread(by_group: torch.Tensor, k: int) -> torch.Tensor:
    """Return for each of k rows what its group has, in float64."""
    groups = by_group.shape[0]
    return by_group.double().repeat_interleave(k // max(1, groups), dim=0)


def dequantized(packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    """Return b = (q - zero) * scale, of shape (k, n), in float64."""
    q = unpacked(packed_b).double()
    return (q - spread(zeros, len(q))) * spread(scales, len(q))


def quantized_matmul(
    a: torch.Tensor, packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """Return a @ b, where b = (q - zero) * scale."""
    return a @ dequantized(packed_b, scales, zeros)


def quantized_matmul_magnitude(
    a: torch.Tensor, packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """Return the sum of the absolute terms; q and zero are terms, too, so that q * scale and
    zero * scale may be rounded before they are subtracted."""
    q = unpacked(packed_b).double()
    return a.abs() @ ((q + spread(zeros, len(q))) * spread(scales, len(q)).abs())


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor
) -> torch.Tensor:
    """Return a @ b, each row times its scale of a and each column times its scale of b."""
    return (a @ b) * scale_a[:, None] * scale_b[None, :]


def fp8_matmul_magnitude(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor
) -> torch.Tensor:
    """Return the sum of the absolute terms."""
    return fp8_matmul(a.abs(), b.abs(), scale_a.abs(), scale_b.abs())
