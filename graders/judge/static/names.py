"""What may be named, in a kernel and in a launcher: plain tables, no behaviour.

Only what is listed is allowed. A function that computes on tensors is in none of them.
"""

from __future__ import annotations

import torch


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


# ---------------------------------------------------------------- modules

MODULES = words(
    "torch triton numpy math typing functools itertools operator collections collections.abc "
    "__future__ warnings dataclasses enum triton_util"
)
"""Modules (with the ones below them) that a submission may import."""

TRITON_UTIL = words(
    "cdiv check_tensors_gpu_ready print_if breakpoint_if get_1d_offset get_2d_offset "
    "get_1d_mask get_2d_mask"
)

# ---------------------------------------------------------------- kernels

KERNEL_BUILTINS = words(
    "range min max len int float bool abs isinstance print list tuple round pow sum zip "
    "True False None"
)
TL_DENIED = words("core semantic standard builtin pi32_t target_info extra")
ASSEMBLY = "triton.language.inline_asm_elementwise"  # nobody can check what it does, but a GPU
TL_PREFIXES = (
    "triton.language.math.",
    "triton.language.random.",
    "triton.language.extra.libdevice.",
    "triton.language.extra.cuda.libdevice.",
)
TRITON_IN_KERNEL = words("triton.cdiv triton.next_power_of_2")
BLOCK_ATTRIBUTES = words(
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

# ---------------------------------------------------------------- launchers: torch

ALLOCATIONS = words(
    "empty zeros ones full empty_like zeros_like ones_like full_like empty_strided scalar_tensor"
)
FROM_LITERALS = words("tensor as_tensor")
TORCH_VIEWS = words(
    "broadcast_to transpose permute t reshape flatten unsqueeze squeeze movedim swapaxes swapdims "
    "ravel atleast_1d atleast_2d as_strided narrow view_as_real"
)
TORCH_SPLITS = words("unbind split chunk broadcast_tensors")
TORCH_QUERIES = words(
    "is_tensor is_floating_point numel finfo iinfo promote_types result_type can_cast "
    "broadcast_shapes get_default_dtype Size device dtype is_grad_enabled is_complex no_grad "
    "inference_mode enable_grad Generator"
) | {
    f"cuda.{name}"
    for name in words(
        "is_available current_device get_device_properties get_device_capability device "
        "device_count current_stream synchronize get_device_name is_bf16_supported set_device "
        "device_of"
    )
}
TORCH_VALUES = (
    {name for name, value in vars(torch).items() if isinstance(value, torch.dtype)}
    | words("Tensor contiguous_format channels_last preserve_format strided FloatTensor")
    | {"version.cuda", "version.hip", "backends.cuda.matmul.allow_tf32"}
)

METADATA_METHODS = words(
    "size stride numel dim ndimension nelement element_size is_contiguous data_ptr "
    "storage_offset is_floating_point get_device type is_complex is_signed is_pinned"
)
VIEW_METHODS = words(
    "view reshape t transpose permute expand expand_as unsqueeze squeeze flatten unflatten "
    "contiguous detach view_as reshape_as movedim moveaxis swapaxes swapdims narrow ravel select "
    "as_strided broadcast_to requires_grad_ clone unsqueeze_ squeeze_ alias"
)
SPLIT_METHODS = words("unbind split chunk tensor_split")
CONVERSION_METHODS = words(
    "to float half bfloat16 double int long short char byte bool cuda cpu type_as type"
)
ALLOCATION_METHODS = words("new_empty new_zeros new_ones new_full new_empty_strided")
FILL_METHODS = words("zero_ fill_")
TENSOR_METHODS = (
    METADATA_METHODS
    | VIEW_METHODS
    | SPLIT_METHODS
    | CONVERSION_METHODS
    | ALLOCATION_METHODS
    | FILL_METHODS
)
DATA = words("data grad grad_fn requires_grad")
VIEW_ATTRIBUTES = words("T mT H mH data")
METADATA_ATTRIBUTES = words(
    "shape dtype device ndim is_cuda is_cpu requires_grad itemsize nbytes layout grad names "
    "is_leaf is_meta is_quantized is_sparse"
)

# ---------------------------------------------------------------- launchers: the rest

TRITON_CALLS = words(
    "triton.cdiv triton.next_power_of_2 triton.Config triton.set_allocator "
    "triton.language.constexpr triton.language.dtype triton.autotune triton.heuristics triton.jit "
    "triton.tools.tensor_descriptor.TensorDescriptor "
    "triton.tools.tensor_descriptor.TensorDescriptor.from_tensor "
    "triton.runtime.driver.active.get_active_torch_device "
    "triton.runtime.driver.active.get_current_device "
    "triton.runtime.driver.active.get_current_target "
    "triton.runtime.driver.active.get_device_interface "
    "triton.runtime.driver.active.utils.get_device_properties"
)
TRITON_VALUES = words("triton.__version__")
TL_DTYPES = words(
    "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "float8e4nv float8e5 float8e4b8 float8e4b15 float8e5b16 constexpr dtype tensor pointer_type "
    "PropagateNan const"
)
NUMPY = words("prod ceil floor log2 sqrt int32 int64 float32 float16 pi inf nan")
PLAIN_MODULES = words("math typing functools itertools operator collections collections.abc")
PLAIN_DENIED = words("operator.attrgetter operator.methodcaller operator.itemgetter typing.io")
DECORATORS = words(
    "torch.no_grad torch.inference_mode functools.lru_cache functools.cache functools.wraps "
    "staticmethod"
)
LAUNCHER_BUILTINS = words(
    "abs all any bool callable dict divmod enumerate filter float format frozenset hasattr id int "
    "isinstance issubclass iter len list map max min next object pow print property range repr "
    "reversed round set slice sorted str sum tuple type zip staticmethod Ellipsis NotImplemented "
    "ValueError TypeError RuntimeError AssertionError NotImplementedError ImportError IndexError "
    "KeyError Exception ZeroDivisionError ModuleNotFoundError AttributeError StopIteration "
    "OverflowError ArithmeticError Warning UserWarning"
)
COUNTING_BUILTINS = words("abs divmod float int bool max min pow round sum sorted any all complex")
"""Builtins that compute on their argument: on a tensor they do the work of a kernel."""

COMPILER_FILES = words("ir_override ptx_options instrumentation_mode")
"""Options of a launch that put other code in the place of the kernel's."""

KERNEL_ATTRIBUTES = words("run warmup fn best_config configs cache arg_names __name__ name src")
"""What may be read of a kernel; `run` is a launch."""

CONTAINER_METHODS = words(
    "get items keys values append extend insert pop index count copy update setdefault "
    "format join startswith endswith lower upper strip split replace removeprefix bit_length "
    "numel total_memory sort reverse remove clear add discard union is_integer save_for_backward "
    "mark_non_differentiable kwargs all_kwargs title zfill ljust rjust"
)
