"""The bugs that `planted` puts into published packages: one replaced text each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# The wheels whose texts the replacements fit.
PACKAGES = {
    "liger_kernel": "liger-kernel==0.8.5",
    "fla": "fla-core==0.6.0",
    "conch": "conch-triton-kernels==1.3",
    "adasplash": "adasplash==0.2.2",
}


@dataclass(frozen=True)
class Bug:
    """In one function of a file, `new` replaces `old`; `call` in `planted_program` runs it.

    code: the finding that names the bug.
    """

    code: str
    what: str
    call: str
    function: str
    old: str
    new: str

    @property
    def file(self) -> str:
        """The file of the function, in the folder of all packages."""
        return FILES[self.call]

    @property
    def package(self) -> str:
        """The package that contains the file."""
        return self.file.split("/")[0]

    def plant(self, folder: Path) -> None:
        """Change the file; an error if the text is not there."""
        path = folder / self.file
        before, start, rest = path.read_text().partition(f"def {self.function}(")
        body, end, after = rest.partition("\ndef ")
        if self.old not in body:
            version = PACKAGES[self.package]
            raise SystemExit(f"{self.what}: {self.function} of {version} lacks {self.old!r}")
        path.unlink()  # it may be a link to the unchanged file
        path.write_text(before + start + body.replace(self.old, self.new, 1) + end + after)


FILES = {
    "softmax": "liger_kernel/ops/softmax.py",
    "group_norm": "liger_kernel/ops/group_norm.py",
    "hgrn": "fla/ops/hgrn/fused_recurrent.py",
    "cumsum": "fla/ops/utils/cumsum.py",
    "silu": "conch/kernels/activation/silu_and_mul.py",
    "int8": "conch/kernels/quantization/int8.py",
    "rotary": "conch/kernels/embedding/rotary_embedding.py",
    "copy_blocks": "conch/kernels/vllm/copy_blocks.py",
    "copy_far": "conch/kernels/vllm/copy_blocks.py",
    "entmax": "adasplash/triton_entmax.py",
}
SOFT, SOFT_BACK = "_softmax_single_block_forward_kernel", "_softmax_single_block_backward_kernel"
NORM, NORM_BACK = "_group_norm_forward_kernel", "_group_norm_backward_kernel"
HGRN, HGRN_BACK = "fused_recurrent_hgrn_fwd_kernel", "fused_recurrent_hgrn_bwd_kernel"
SUMS, INT8 = "chunk_local_cumsum_scalar_kernel", "_static_scaled_int8_quant_kernel"
SILU, ROTARY, COPY = "_silu_and_mul_kernel", "_rotary_embedding_kernel", "_copy_blocks_kernel"
Y_OF_A_ROW = "Y_ptr + row_id * Y_row_stride"
MAXIMUM = "    m = tl.max(x, axis=0)\n"
STORED = 'y, mask=mask, cache_modifier=".cs")'

BUGS = (
    Bug(
        "out-of-bounds-load", "the mask of a load dropped", "softmax", SOFT,
        'mask=mask, other=-float("inf"), ', "",
    ),
    Bug(
        "out-of-bounds-store", "the mask of a store dropped", "softmax", SOFT,
        "y, mask=mask", "y",
    ),
    Bug(
        "out-of-bounds-load", "a mask one lane too wide", "softmax", SOFT,
        "offs < n_cols", "offs <= n_cols",
    ),
    Bug("masked-lanes-used", "other dropped", "softmax", SOFT_BACK, ", other=0.0", ""),
    Bug(
        "write-race", "the program number forgotten", "softmax", SOFT,
        "row_id * Y_row_stride", "0 * Y_row_stride",
    ),
    Bug(
        "out-of-bounds-load", "a stride one too large", "softmax", SOFT_BACK,
        "row_id * dy_stride", "row_id * (dy_stride + 1)",
    ),
    Bug(
        "never-stored", "one program too few", "softmax", "_softmax_forward",
        "[(n_rows,)]", "[(n_rows - 1,)]",
    ),
    Bug(
        "gap-store", "the column stride of an output ignored", "softmax", "_softmax_forward",
        "torch.empty_like(x2d)", "x2d.new_empty(n_rows, 2 * n_cols)[:, ::2]",
    ),
    Bug(
        "gap-read", "the column stride of an input ignored", "softmax", "_softmax_forward",
        "x.contiguous().view(-1, n_cols)", "x.reshape(-1, n_cols).repeat_interleave(2, 1)[:, ::2]",
    ),
    Bug(
        "does-not-compile", "a variable that changes its type in a loop", "softmax", SOFT,
        MAXIMUM, MAXIMUM + "    for _ in range(n_cols):\n        m = m.to(tl.float64)\n",
    ),
    Bug(
        "does-not-compile", "a global that is not tl.constexpr", "group_norm", NORM,
        "m = s / hidden_size\n", "m = s / hidden_size + 0 * MAX_FUSED_SIZE\n",
    ),
    Bug(
        "untrue-hint", "a stride said to be a multiple of 64", "softmax", SOFT,
        "row_id * X_row_stride", "row_id * tl.multiple_of(X_row_stride, 64)",
    ),
    Bug(
        "device-assert", "tl.assume of something untrue", "softmax", SOFT,
        MAXIMUM, "    tl.assume(n_cols % 16 == 0)\n" + MAXIMUM,
    ),
    Bug(
        "kernel-error", "shapes that do not fit together", "softmax", SOFT,
        "y = e / d", "y = e / (d + tl.zeros([3], tl.float32))",
    ),
    Bug(
        "unordered-lanes", "a row read back by other lanes", "softmax", SOFT,
        STORED, f"{STORED}\n    z = tl.load({Y_OF_A_ROW} + n_cols - 1 - offs, mask=mask)\n"
        f"    tl.store({Y_OF_A_ROW} + offs, z, mask=mask)",
    ),
    Bug(
        "waits-forever", "a wait for what another program stores", "softmax", SOFT,
        MAXIMUM, "    while tl.load(X_ptr + row_id * 0, volatile=True) != 7.0:\n        pass\n"
        + MAXIMUM,
    ),
    Bug(
        "write-race", "strides swapped", "group_norm", NORM,
        "batch_idx * Y_row_stride + group_idx * Y_col_stride",
        "batch_idx * Y_col_stride + group_idx * Y_row_stride",
    ),
    Bug(
        "read-write-race", "an addition no longer atomic", "group_norm", NORM_BACK,
        "tl.atomic_add(DW_ptr + channel_idx, dW.to(dtype))",
        "tl.store(DW_ptr + channel_idx, tl.load(DW_ptr + channel_idx) + dW.to(dtype))",
    ),
    Bug(
        "out-of-bounds-atomic", "an atomic one element too far", "group_norm", NORM_BACK,
        "DB_ptr + channel_idx", "DB_ptr + channel_idx + 1",
    ),
    Bug(
        "uninitialised-read", "a sum in memory that is not zero", "group_norm",
        "group_norm_backward", "DW = torch.zeros(", "DW = torch.empty(",
    ),
    Bug(
        "never-stored", "the last channel of a group left out", "group_norm", NORM_BACK,
        "in tl.range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group)",
        "in tl.range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group - 1)",
    ),
    Bug(
        "out-of-bounds-load", "the next step instead of the one before", "hgrn", HGRN_BACK,
        "(bos + T - 2) * D", "(bos + T) * D",
    ),
    Bug(
        "out-of-bounds-store", "a mask of a store dropped", "hgrn", HGRN,
        "tl.store(p_o, b_h.to(p_o.dtype.element_ty), mask=mask)",
        "tl.store(p_o, b_h.to(p_o.dtype.element_ty))",
    ),
    Bug(
        "write-race", "the sequence number forgotten", "hgrn", HGRN,
        "bos, eos = i_n * T, i_n * T + T", "bos, eos = 0, T",
    ),
    Bug(
        "out-of-bounds-load", "one step too many", "hgrn", HGRN,
        "for _ in range(0, T):", "for _ in range(0, T + 1):",
    ),
    Bug("write-race", "a pointer that advances too far", "hgrn", HGRN, "p_o += D", "p_o += D + 1"),
    Bug(
        "never-stored", "the grid rounded down", "hgrn", "fused_recurrent_hgrn_fwd",
        "triton.cdiv(D, meta['BD']) * N", "D // meta['BD'] * N",
    ),
    Bug(
        "out-of-bounds-store", "the mask of the last chunk dropped", "cumsum", SUMS,
        "tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=m_t)",
        "tl.store(p_o, b_o.to(p_o.dtype.element_ty))",
    ),
    Bug("out-of-bounds-load", "an offset shifted", "cumsum", SUMS, "p_s = s + ", "p_s = s + 1 + "),
    Bug(
        "out-of-bounds-gather", "tl.gather of the next lane", "cumsum", SUMS,
        "b_o = tl.cumsum(b_s, axis=0)\n",
        "b_o = tl.gather(tl.cumsum(b_s, axis=0), tl.arange(0, BT) + 1, 0)\n",
    ),
    Bug(
        "out-of-bounds-load", "the second half one too far", "silu", SILU,
        "x_token_offset + d\n", "x_token_offset + d + 1\n",
    ),
    Bug(
        "never-stored", "a loop that does not advance", "silu", SILU,
        "block_offsets += cxpr_block_size", "block_offsets += 0",
    ),
    Bug(
        "write-race", "a stride one too small", "silu", SILU,
        "token_index * output_stride", "token_index * (output_stride - 1)",
    ),
    Bug(
        "undefined-conversion", "the clamp before int8 dropped", "int8", INT8,
        "tl.clamp(block * inverted_scale, int8_min, int8_max)", "(block * inverted_scale)",
    ),
    Bug(
        "lost-update", "a counter raised by all lanes", "int8", INT8,
        "        # Store result",
        "        tl.store(scale_ptr + 0 * offsets, tl.load(scale_ptr + 0 * offsets) + 1.0)\n"
        "        # Store result",
    ),
    Bug(
        "read-write-race", "the other half one too far", "rotary", ROTARY,
        "y_index = rot_offset + embed_dim", "y_index = rot_offset + embed_dim + 1",
    ),
    Bug(
        "lane-race", "two lanes for one element", "rotary", ROTARY,
        "x_index = rot_offset", "x_index = rot_offset // 2",
    ),
    Bug(
        "out-of-bounds-load", "a mask one too wide in a loop", "rotary", ROTARY,
        "mask = i < nq", "mask = i < nq + 1",
    ),
    Bug(
        "out-of-bounds-load", "a copy longer than its page", "copy_blocks", COPY,
        "chunk_offsets < page_size", "chunk_offsets < page_size + 8",
    ),
    Bug(
        "out-of-bounds-load", "the step of a table doubled", "copy_blocks", COPY,
        "pair_index * block_mapping_pair_stride", "2 * pair_index * block_mapping_pair_stride",
    ),
    Bug(
        "offset-overflow", "a page number in 32 bits", "copy_far", COPY,
        "source_block * kv_cache_block_stride", "source_block.to(tl.int32) * kv_cache_block_stride",
    ),
    Bug(
        "masked-lanes-used", "other dropped before a maximum", "entmax", "_fwd_entmax",
        'mask=load_mask, other=float("-inf"))\n        max_val', "mask=load_mask)\n        max_val",
    ),
    Bug(
        "out-of-bounds-store", "the mask of a result dropped", "entmax", "_fwd_entmax",
        "y, mask=load_mask", "y",
    ),
    Bug(
        "write-race", "rows that overlap by one", "entmax", "_fwd_entmax",
        "tl.program_id(0) * SIZE_N", "tl.program_id(0) * (SIZE_N - 1)",
    ),
    Bug(
        "out-of-bounds-load", "rows counted from one", "entmax", "_bwd_entmax",
        "tl.program_id(0) * SIZE_N", "(tl.program_id(0) + 1) * SIZE_N",
    ),
    Bug(
        "read-write-race", "a gradient of another program read", "entmax", "_bwd_entmax",
        "tl.sum(uDy_sum) / tl.sum(y_sum)", "tl.sum(uDy_sum) / tl.sum(y_sum) + tl.load(DX - off_m)",
    ),
)  # fmt: skip
