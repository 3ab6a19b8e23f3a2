"""Tables of the names that a kernel may use. Only listed names are allowed."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """Return the names in a text, separated by blanks."""
    return frozenset(text.split())


# The course's helpers for kernels, by their modules and by the package.
_HELPERS = names(
    "launching.cdiv debugging.print_if debugging.breakpoint_if indexing.get_1d_offset "
    "indexing.get_2d_offset indexing.get_1d_mask indexing.get_2d_mask"
)
TRITON_UTIL = frozenset(
    f"triton_util.{name}" for path in _HELPERS for name in (path, path.split(".")[1])
)

TL_DENIED = names(
    "core semantic standard builtin pi32_t target_info extra aggregate_replace math random tensor"
)
# Of tl.core, only what tl has as well; the rest is internal to the language.
TL_CORE = names(
    "full zeros zeros_like arange load store dot cast reshape view trans permute broadcast "
    "broadcast_to expand_dims join split cat where exp exp2 log log2 sqrt rsqrt abs sin cos "
    "maximum minimum clamp fma cdiv sum max min argmax argmin reduce associative_scan program_id "
    "num_programs multiple_of max_contiguous max_constancy assume static_assert device_assert "
    "static_range range constexpr float32 float16 bfloat16 float64 int1 int8 int16 int32 int64 "
    "uint8 uint16 uint32 uint64"
)
TL_IMPORTED = names("core jit math tl wraps List T builtin")  # imported by those modules
ASSEMBLY = "triton.language.inline_asm_elementwise"  # only a GPU can check what it does
TL_PREFIXES = (
    "triton.language.math.",
    "triton.language.random.",
    "triton.language.PropagateNan.",  # of tl.maximum, tl.minimum and tl.clamp
    "triton.language.extra.libdevice.",
    "triton.language.extra.cuda.libdevice.",
)
TRITON_IN_KERNEL = names("triton.cdiv triton.next_power_of_2")
BLOCK_ATTRIBUTES = names(
    # of a block
    "T abs argmax argmin associative_scan broadcast_to cast cdiv ceil cos cumprod cumsum erf exp "
    "exp2 expand_dims flip floor gather histogram item log log2 logical_and logical_or max min "
    "permute ravel reduce reduce_or reshape rsqrt shape dtype type sigmoid sin softmax sort split "
    "sqrt sqrt_rn store sum to trans view xor_sum numel unsqueeze squeeze load scatter advance "
    "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor "
    "block_shape strides atomic_load atomic_store atomic_poll "
    # of a dtype or a constexpr
    "element_ty scalar primitive_bitwidth itemsize value is_floating is_int is_ptr is_bf16 "
    "is_fp16 is_fp32 is_fp64 is_fp8 is_block is_bool is_int1 is_int8 is_int16 is_int32 is_int64 "
    "is_uint8 is_uint16 is_uint32 is_uint64 is_int_signed is_int_unsigned is_standard_floating "
    "int_bitwidth fp_mantissa_width name nbytes get_int_max_value get_int_min_value"
)
