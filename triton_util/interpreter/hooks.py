"""All parts of triton's internals that the engine uses, in one list, with a probe for each.

    TRITON_INTERPRET=1 python -m triton_util.interpreter.hooks

prints one line for each part that another version of triton has changed, and exits with 1 if there
is any. `make canary` runs this with the newest triton.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hook:
    """A part of triton: where it is, what we do with it, which parameters it must have.

    parameters: names that its signature must have; empty if it only has to exist.
    """

    module: str
    path: str
    use: str
    parameters: tuple[str, ...] = ()

    def changed(self) -> str:
        """One line that says what has changed; "" if nothing has."""
        try:
            owner: Any = importlib.import_module(self.module)
            for name in self.path.split("."):
                owner = getattr(owner, name)
        except (ImportError, AttributeError) as error:
            return f"{self.module}.{self.path} is gone ({self.use}): {error}"
        if not self.parameters:
            return ""
        known = inspect.signature(owner).parameters
        missing = [name for name in self.parameters if name not in known]
        if missing:
            return f"{self.module}.{self.path} takes no {', '.join(missing)} ({self.use})"
        return ""


_INTERPRETER = "triton.runtime.interpreter"
_CORE = "triton.language.core"
_STANDARD = "triton.language.standard"
HOOKS = (
    Hook(
        "triton.compiler.code_generator",
        "CodeGenerator.visit",
        "the judge notes what is compiled",
        ("node",),
    ),
    Hook(_INTERPRETER, "InterpreterBuilder", "GridBuilder takes its place"),
    Hook(_INTERPRETER, "interpreter_builder.options", "options of the running builder"),
    Hook(_INTERPRETER, "interpreter_semantic.to_tensor", "triton's typing rules"),
    Hook(_INTERPRETER, "interpreter_semantic.binary_op_type_checking_impl", "libdevice"),
    Hook(_INTERPRETER, "ReduceOps", "BatchReduce takes its place", ("axis", "combine_fn")),
    Hook(_INTERPRETER, "ScanOps", "BatchScan takes its place", ("axis", "combine_fn", "reverse")),
    Hook(_INTERPRETER, "ReduceOps.apply_impl", "reductions of batches", ("input",)),
    Hook(_INTERPRETER, "ScanOps.apply_impl", "scans of batches", ("input",)),
    Hook(_INTERPRETER, "_patch_lang", "the functions of tl are patched once"),
    Hook(_INTERPRETER, "_patch_lang_tensor", "what a tensor is to Python"),
    Hook(_INTERPRETER, "InterpretedFunction.run", "launches", ("grid", "warmup")),
    Hook(_INTERPRETER, "InterpretedFunction.__call__", "calls of helpers"),
    Hook(_INTERPRETER, "InterpretedFunction.add_pre_run_hook", "hooks of autotuners"),
    Hook(_INTERPRETER, "_convert_float", "float8e4b15"),
    Hook(_INTERPRETER, "_interpreter", "fused multiply-add in float64"),
    Hook(_INTERPRETER, "TensorHandle", "scaled products"),
    Hook(_INTERPRETER, "_ir.ROUNDING_MODE.RTNE", "casts"),
    Hook(_INTERPRETER, "_ir.ROUNDING_MODE.RTZ", "casts"),
    Hook(_INTERPRETER, "_ir.PROPAGATE_NAN.ALL", "tl.clamp, tl.maximum"),
    Hook(_INTERPRETER, "_ir.PADDING_OPTION.PAD_NAN", "descriptors"),
    Hook("triton.runtime.jit", "TensorWrapper", "arguments with another dtype"),
    Hook("triton.runtime.jit", "_normalize_ty", "annotated arguments"),
    Hook("triton.runtime.jit", "mangle_type", "dtypes of arguments"),
    Hook("triton.tools.tensor_descriptor", "TensorDescriptor", "descriptors of the host"),
    Hook("triton.runtime.autotuner", "Autotuner.run", "tuning without a GPU"),
    Hook("triton.runtime.autotuner", "Autotuner._bench", "tuning without a GPU", ("config",)),
    Hook("triton.testing", "do_bench", "modelled times"),
    Hook(_CORE, "is_builtin", "functions of tl that a kernel has imported by name"),
    Hook(_CORE, "_aggregate", "methods of aggregates"),
    Hook(_STANDARD, "_sum_combine", "sums by numpy"),
    Hook(_STANDARD, "_elementwise_max", "maxima by numpy"),
    Hook(_STANDARD, "_elementwise_min", "minima by numpy"),
    Hook(_STANDARD, "_argmax_combine_tie_break_left", "indices of maxima by numpy"),
    Hook(_STANDARD, "_prod_combine", "products by numpy"),
)
# Operations that `tl` calls only when it compiles; interpreted kernels never reach them.
COMPILER_ONLY = re.compile(
    r"create_(cluster|warp|block|barrier|async|tmem|poison|map_elementwise|inline_asm|extern|"
    r"func|call|reduce|scan|name_loc|tensor_descriptor_type|constant|cond|while|for|if|return|get_)"
)


def changed() -> list[str]:
    """One line for each difference between this triton and those that we know."""
    lines = [line for hook in HOOKS if (line := hook.changed())]
    return lines + [f"tl asks its builder for {name}, which the engine lacks" for name in lacking()]


def lacking() -> list[str]:
    """Operations that the rules of `tl` call on a builder, and that ours lacks."""
    from triton_util.interpreter.operations.builder import GridBuilder

    names: set[str] = set()
    for module in ("triton.language.semantic", _CORE):
        source = inspect.getsource(importlib.import_module(module))
        names |= set(re.findall(r"\bbuilder\.(create_\w+)\(", source))
    return sorted(
        name for name in names if not hasattr(GridBuilder, name) and not COMPILER_ONLY.match(name)
    )


def main() -> int:
    """Print what has changed; return 1 if anything has."""
    import triton

    lines = changed()
    print("\n".join(lines) or f"triton {triton.__version__}: {len(HOOKS)} hooks as we know them")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
