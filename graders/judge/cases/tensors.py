"""Build the tensors that a case describes: values from a seed, memory layout from the view.

The elements of a storage that are not in the view are poison, so that a kernel that reads them
computes a result far outside any tolerance.
"""

from __future__ import annotations

from typing import Any

import torch

from graders.judge.records import Case, Plain, TensorSpec

FAR_OFFSET = 2**31  # the first element offset that a signed 32-bit integer cannot hold
FAR = ("far", "far_columns")
SLOPE = 200.0  # exp underflows between the first and the last element of a row
OFFSET_ELEMENTS = 5  # odd on purpose: an "offset" view is not aligned to 16 bytes

# NaN, the infinities, both zeros, and a number too small to be a normal float32.
SPECIALS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40)

DTYPE_WORDS = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "e4m3",
    torch.float8_e5m2: "e5m2",
    torch.bool: "bool",
}


def dtype_word(dtype: torch.dtype) -> str:
    """The course's short name of a dtype: fp32, bf16, int64, …"""
    return DTYPE_WORDS.get(dtype, str(dtype).removeprefix("torch."))


def build(case: Case, seed: int) -> tuple[Any, ...]:
    """The arguments of a case: CPU tensors (views into poisoned storage) and scalars.

    The same case and seed always give the same bytes, on every machine.
    """
    generator = torch.Generator().manual_seed(seed)
    return tuple(
        build_tensor(arg, generator) if isinstance(arg, TensorSpec) else arg for arg in case.args
    )


def build_tensor(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    """One tensor of `spec.shape` with the memory layout of `spec.view`."""
    strides, offset, length = layout(spec)
    storage = torch.empty(length, dtype=spec.dtype)
    if spec.view not in FAR:  # a far storage is sparse: poison would touch gigabytes of pages
        poison(storage)
    view = storage.as_strided(spec.shape, strides, offset)
    if view.numel():
        _write(view, _values(spec, generator))
    return view


def poison(storage: torch.Tensor) -> None:
    """Fill memory with a value that shows when it is read: NaN, or the extreme integer."""
    if storage.dtype.is_floating_point:
        storage.fill_(float("nan"))
    elif storage.dtype == torch.bool:
        storage.fill_(True)
    else:
        storage.fill_(torch.iinfo(storage.dtype).min or torch.iinfo(storage.dtype).max)


def layout(spec: TensorSpec) -> tuple[tuple[int, ...], int, int]:
    """Strides and offset of the view and length of its storage, all in elements."""
    shape = spec.shape
    width = shape[-1] if shape else 1
    dense = _dense_strides(shape)
    outer = dense[:-2]
    strides: tuple[int, ...]
    offset = 0
    match spec.view:
        case "contiguous":
            strides = dense
        case "offset":
            strides, offset = dense, OFFSET_ELEMENTS
        case "transposed":
            strides = (*outer, 1, shape[-2])
        case "interleaved":
            strides = (*outer[:-1], width, shape[-3] * width, 1)
        case "rotated" | "rotated_sliced":
            inner = _dense_strides((*shape[1:], shape[0]))[:-1]
            times = 2 if spec.view == "rotated_sliced" else 1
            strides = (1, *(times * s for s in inner[:-1]), inner[-1])
        case "sliced":
            strides = (*(2 * s for s in dense[:-1]), 1)
        case "padded":
            strides = (*_dense_strides((*shape[:-1], width + 1))[:-1], 1)
        case "stepped_rows":
            strides = (*(3 * s for s in dense[:-1]), 1)
        case "stepped_columns":
            strides = tuple(2 * s for s in dense)
        case "expanded_rows":
            strides = (*outer, 0, 1)
        case "expanded_columns":
            strides = (*outer, 1, 0)[-len(shape) :]  # in a vector all elements are one
        case "first_column":
            strides = (*dense[:-1], 0)
        case "overlapping":
            strides = (*outer, max(1, width // 2), 1)
        case "far":
            strides = (FAR_OFFSET // max(1, shape[0] - 1) + 16, *dense[1:])
        case "far_columns":
            strides = (*dense[:-2], 1, FAR_OFFSET // max(1, width - 1) + 16)
    return strides, offset, offset + _extent(shape, strides) + OFFSET_ELEMENTS


def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(1, shape[axis + 1])
    return tuple(strides)


def _extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    if any(size == 0 for size in shape):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _write(view: torch.Tensor, values: torch.Tensor) -> None:
    """Copy values into a view whose elements may share memory (the last writer wins)."""
    if 0 in view.stride():
        firsts = tuple(slice(0, 1) if s == 0 else slice(None) for s in view.stride())
        view[firsts].copy_(values[firsts])
        return
    if view.dim() == 2 and view.stride(1) == 1 and view.stride(0) < view.shape[1]:
        for row, own in zip(view, values, strict=True):
            row.copy_(own)  # overlapping rows, in their order
    else:
        view.copy_(values)


def _values(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    values = _drawn(spec, generator)
    for first, last in spec.garbage:
        poison(values.view(-1)[first : last + 1])
    return values


def _drawn(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    if spec.values:
        return torch.tensor(spec.values, dtype=spec.dtype).reshape(spec.shape)
    if spec.dtype == torch.bool:
        return torch.rand(spec.shape, generator=generator) < 0.5
    if not spec.dtype.is_floating_point:
        return _integers(spec, generator)
    values = _floats(spec, generator)
    if spec.dtype.itemsize == 1:  # beyond the largest number some torch versions make NaN
        largest = torch.finfo(spec.dtype).max
        values = values.clamp(-largest, largest)
    return values.to(spec.dtype)


def _integers(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    info = torch.iinfo(spec.dtype)
    if spec.fill == "zeros":
        return torch.zeros(spec.shape, dtype=spec.dtype)
    if spec.fill == "ramp":
        return _integer_ramp(spec, info).reshape(spec.shape)
    if spec.fill == "rounded":
        near = torch.randn(spec.shape, generator=generator, dtype=torch.float64) * spec.scale
        whole = near.round().to(torch.int64) + int(spec.shift)
        return whole.clamp(info.min, info.max).to(spec.dtype)
    low, high = max(info.min, -(2**62)), min(info.max, 2**62)
    return torch.randint(low, high, spec.shape, generator=generator).to(spec.dtype)


def _integer_ramp(spec: TensorSpec, info: torch.iinfo) -> torch.Tensor:
    """shift, shift + 1, …, continuing at 0 after the largest number of the dtype."""
    count = max(info.min, int(spec.shift)) + torch.arange(torch.Size(spec.shape).numel())
    top = info.max + 1
    return (count if top > 2**62 else torch.where(count < 0, count, count % top)).to(spec.dtype)


def _floats(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    """Values in float64, before they are rounded to the dtype of the spec."""
    normal = torch.randn(spec.shape, generator=generator, dtype=torch.float64)
    values = normal * spec.scale + spec.shift
    match spec.fill:
        case "zeros":
            return torch.zeros_like(values)
        case "ramp":
            return torch.arange(values.numel(), dtype=torch.float64).reshape(spec.shape)
        case "specials":
            return _sprinkle(values, SPECIALS, generator)
        case "neg_inf":
            return _keep_one_finite(values, _sprinkle(values, (-float("inf"),), generator))
        case "neg_inf_head":
            head = torch.arange(spec.shape[-1]) < spec.shape[-1] * 2 // 3
            return values.masked_fill(head, -float("inf"))
        case "neg_inf_tail":
            tail = torch.arange(spec.shape[-1]) > spec.shape[-1] // 3
            return values.masked_fill(tail, -float("inf"))
        case "rising":
            return values + _slope(spec, -1)
        case "falling":
            return values - _slope(spec, -1)
        case "rising_rows":
            return values + _slope(spec, -2)
        case "falling_rows":
            return values - _slope(spec, -2)
        case "rectified":
            return values.clamp(min=0.0)
        case "cancelling":
            sign = 1.0 - 2.0 * (torch.arange(spec.shape[-1]) % 2).double()
            return sign * (30.0 * spec.scale) * (1.0 + 0.05 * normal)
    return values


def _slope(spec: TensorSpec, axis: int) -> torch.Tensor:
    """From -SLOPE to SLOPE along an axis, times the scale: its blocks then differ by far."""
    size = spec.shape[axis]
    slope = torch.linspace(-SLOPE, SLOPE, size, dtype=torch.float64) * spec.scale
    return slope if axis == -1 else slope[:, None]


def _sprinkle(
    values: torch.Tensor, specials: tuple[float, ...], generator: torch.Generator
) -> torch.Tensor:
    """Replace about one element in eight by a special value; each special appears if it can."""
    flat = values.clone().reshape(-1)
    order = torch.randperm(flat.numel(), generator=generator)
    count = min(flat.numel(), max(len(specials), flat.numel() // 8))
    for position, index in enumerate(order[:count].tolist()):
        flat[index] = specials[position % len(specials)]
    return flat.reshape(values.shape)


def _keep_one_finite(values: torch.Tensor, sprinkled: torch.Tensor) -> torch.Tensor:
    """Give each row that became entirely infinite its first value back."""
    lost = torch.isinf(sprinkled).all(dim=-1)
    sprinkled[..., 0] = torch.where(lost, values[..., 0], sprinkled[..., 0])
    return sprinkled


VIEW_WORDS = {
    "offset": "starting inside a longer storage",
    "transposed": "a transposed view",
    "interleaved": "with the heads side by side in each row of memory",
    "rotated": "with its first dimension innermost in memory",
    "rotated_sliced": "the left half of wider rows, with its first dimension innermost in memory",
    "sliced": "the left half of wider rows",
    "padded": "all but the last column of wider rows",
    "stepped_rows": "every third row",
    "stepped_columns": "every second column",
    "expanded_rows": "one row expanded (stride 0)",
    "expanded_columns": "one column expanded (stride 0)",
    "first_column": "the first column of wider rows, expanded (stride 0)",
    "overlapping": "overlapping rows",
    "far": "with element offsets beyond 2**31",
    "far_columns": "a transposed view with element offsets beyond 2**31",
}


def describe(case: Case, parameters: tuple[str, ...]) -> str:
    """The arguments in words: `x: (37, 53) fp16, a transposed view; eps: 1e-05`."""
    return "; ".join(
        f"{name}: {_describe_arg(arg)}" for name, arg in zip(parameters, case.args, strict=False)
    )


def _describe_arg(arg: Plain) -> str:
    if not isinstance(arg, TensorSpec):
        return repr(arg)
    words = f"{arg.shape} {dtype_word(arg.dtype)}"
    return f"{words}, {VIEW_WORDS[arg.view]}" if arg.view in VIEW_WORDS else words
