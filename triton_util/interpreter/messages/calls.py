"""How Triton's own functions are called, and which name a misspelt one was meant to be.

Like `translation` it needs no triton, so it lists the names; a test compares them with `tl`.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from triton_util.other_names import OTHER_NAMES

LONGEST_NAME = 80  # comparing long names takes time

# Function → how it is called. `{name}` in a message is replaced by what is missing.
USAGE = {
    "arange": "Write tl.arange(0, BLOCK_SIZE): it takes a start and an end.",
    "program_id": "Write tl.program_id(0): the number is the axis of the grid, 0, 1 or 2.",
    "num_programs": "Write tl.num_programs(0): the number is the axis of the grid, 0, 1 or 2.",
    "clamp": "Write tl.clamp(x, low, high) with both bounds; for one of them there are "
    "tl.maximum(x, low) and tl.minimum(x, high).",
    "where": "Write tl.where(condition, a, b): what a lane gets where the condition holds, and "
    "what it gets elsewhere.",
    "maximum": "Write tl.maximum(x, 0.0): it compares two values, lane by lane. The largest "
    "element of one block is tl.max(x, axis=0).",
    "minimum": "Write tl.minimum(x, 1.0): it compares two values, lane by lane. The smallest "
    "element of one block is tl.min(x, axis=0).",
    "load": "Write tl.load(x_ptr + offsets, mask=mask).",
    "store": "Write tl.store(output_ptr + offsets, value, mask=mask): pointers, values, mask.",
    "zeros": "Write tl.zeros((BLOCK_SIZE,), dtype=tl.float32).",
    "full": "Write tl.full((BLOCK_SIZE,), 0.0, dtype=tl.float32).",
    "cdiv": "Write tl.cdiv(n, BLOCK_SIZE).",
    "dot": "Write tl.dot(a, b), or tl.dot(a, b, accumulator).",
    "cast": "Write x.to(tl.float32).",
    "reshape": "Write tl.reshape(x, (ROWS, COLUMNS)).",
    "broadcast_to": "Write tl.broadcast_to(x, (ROWS, COLUMNS)).",
}

_NAMES = (
    "abs arange argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max "
    "atomic_min atomic_or atomic_xchg atomic_xor bfloat16 broadcast broadcast_to cast cat cdiv "
    "ceil clamp constexpr cos cumprod cumsum debug_barrier device_assert device_print div_rn dot "
    "dot_scaled erf exp exp2 expand_dims fdiv flip float16 float32 float64 floor fma full gather "
    "histogram int1 int16 int32 int64 int8 interleave join load load_tensor_descriptor log log2 "
    "make_tensor_descriptor math max max_contiguous maximum min minimum multiple_of num_programs "
    "permute program_id rand randint randn range ravel reduce reshape rsqrt sigmoid sin softmax "
    "sort split sqrt sqrt_rn static_assert static_print static_range store store_tensor_descriptor "
    "sum swizzle2d tensor trans uint16 uint32 uint64 uint8 umulhi view where xor_sum zeros "
    "zeros_like"
)
FUNCTIONS = tuple(_NAMES.split())
_PARAMETERS = (
    "axis mask other dtype keep_dims input_precision out_dtype allow_tf32 acc condition shape "
    "num_stages cache_modifier eviction_policy"
)
PARAMETERS = tuple(_PARAMETERS.split())


def usage(function: str) -> str:
    """How to call a function of Triton; for any other function, what to compare."""
    return USAGE.get(function, "Compare the call with the function's parameters, one by one.")


def written(function: str) -> str:
    """`arange` → "tl.arange"; any other name unchanged."""
    return f"tl.{function}" if function in FUNCTIONS else function


def meant(name: str, known: Sequence[str], prefix: str = "") -> str:
    """`Did you mean …?` if a known name is similar, else ""."""
    if len(name) > LONGEST_NAME:
        return ""
    lowered = {other.lower(): other for other in known}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return f"Did you mean {prefix}{lowered[close[0]]}?" if close else ""


def meant_function(name: str) -> str:
    """What to write in place of `tl.name`, which does not exist."""
    if name in OTHER_NAMES:
        return f"Write {OTHER_NAMES[name]}."
    return meant(name, FUNCTIONS, "tl.")


def meant_parameter(name: str) -> str:
    """What to write in place of a parameter that a function of Triton does not have."""
    if name in OTHER_NAMES:
        return f"Write {OTHER_NAMES[name]}."
    return meant(name, PARAMETERS)
