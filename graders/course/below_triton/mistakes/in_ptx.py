"""Ways to a right result that show in the PTX: narrow loads, and registers that spill."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graders.judge.compiling.compiled import BrokenPromise, CompiledLaunch, CompilerRequirement
from graders.judge.records import Arg, TensorSpec
from triton_util.explain.loads import BULK, Load

WIDE = 128  # bits
VECTOR_BYTES = 16
KNOWN = 16  # Triton compiles anew for numbers and addresses that are divisible by this
Where = Callable[..., bool]


def wide_rows(x: Arg, *_: Arg) -> bool:
    """Whether each row of a matrix can be loaded in whole vectors of 16 bytes."""
    if not isinstance(x, TensorSpec) or x.view != "contiguous" or 0 in x.shape:
        return False
    return x.shape[-1] * x.dtype.itemsize % VECTOR_BYTES == 0


def known_rows(x: Arg, *_: Arg) -> bool:
    """Whether Triton sees that by itself: the length of a row is a multiple of 16 elements."""
    return wide_rows(x) and isinstance(x, TensorSpec) and x.shape[-1] % KNOWN == 0


def untold_rows(x: Arg, *_: Arg) -> bool:
    """Whether only the author of the kernel knows it."""
    return wide_rows(x) and not known_rows(x)


def starts_elsewhere(x: Arg, *_: Arg) -> bool:
    """Whether a matrix begins where no vector of 16 bytes begins."""
    return isinstance(x, TensorSpec) and x.view == "offset" and 0 not in x.shape


def too_narrow(loads: Iterable[Load], bits: int) -> Load | None:
    """A narrow load, where most of what is loaded comes by narrow ones."""
    listed = list(loads)
    if any(load.kind == BULK for load in listed):
        return None
    narrow = [load for load in listed if load.bits < bits]
    wide = sum(load.bits for load in listed if load.bits >= bits)
    return narrow[0] if sum(load.bits for load in narrow) > wide else None


def _narrow(launch: CompiledLaunch) -> Load | None:
    return too_narrow(launch.loads_from(0), WIDE)


def _few_for_each_thread(launch: CompiledLaunch) -> BrokenPromise | None:
    narrow, whole = _narrow(launch), sum(load.bits for load in launch.loads_from(0))
    if narrow is None or whole >= WIDE:
        return None
    lanes = f"{launch.threads} threads" if launch.threads else "the threads"
    return BrokenPromise(
        f"{lanes} of a program load {whole} bits each, all in all, so no load can have {WIDE}.",
        narrow.line,
    )


def _specialisation_forbidden(launch: CompiledLaunch) -> BrokenPromise | None:
    narrow = _narrow(launch)
    names = [*launch.kernel.specialize_not, *launch.kernel.align_not]
    if narrow is None or not names:
        return None
    told = ", ".join(f"`{name}`" for name in names)
    return BrokenPromise(
        f"a load of x has {narrow.bits} bits. Not specialised: {told}.", narrow.line
    )


def _load_is_narrow(launch: CompiledLaunch) -> BrokenPromise | None:
    narrow = _narrow(launch)
    if narrow is None:
        return None
    return BrokenPromise(f"each thread loads {narrow.bits} bits of x at a time.", narrow.line)


def _load_is_wide(launch: CompiledLaunch) -> BrokenPromise | None:
    """A load of 128 bits; of a misaligned pointer no compiler makes it by itself."""
    loads = (load for load in launch.loads_from(0) if load.kind != BULK)
    wide = next((load for load in loads if load.bits >= WIDE), None)
    if wide is None:
        return None
    return BrokenPromise(f"each thread loads {wide.bits} bits of x at a time.", wide.line)


def _spills(launch: CompiledLaunch) -> BrokenPromise | None:
    if not launch.spill_bytes:
        return None
    return BrokenPromise(f"{launch.spill_bytes:,} bytes of each thread go to memory and back.")


SPECIALISATION_FORBIDDEN = CompilerRequirement(
    code="specialisation-forbidden",
    title="`do_not_specialize` hides the length of a row",
    message=(
        "But the loads of x are narrow. Triton compiles a version for arguments divisible "
        "by 16, with wide loads. Here it is not allowed to look at the argument."
    ),
    next_step="Remove `do_not_specialize`, at least for the length of a row.",
    where=known_rows,
    broken=_specialisation_forbidden,
)
FEW_FOR_EACH_THREAD = CompilerRequirement(
    code="few-elements-for-each-thread",
    title="A thread has too few elements for one wide load",
    message=(
        "But the loads of x are narrow: the threads share a block, and each needs 16 "
        "adjacent bytes, 4 elements in float32 and 8 in half precision."
    ),
    next_step=(
        "Take a larger block, also for short rows: with 4 warps, 512 elements in float32 "
        "and 1,024 in half precision. A block may hold several rows, or mask lanes."
    ),
    where=known_rows,
    broken=_few_for_each_thread,
)
LANES_NOT_NEIGHBOURS = CompilerRequirement(
    code="lanes-not-neighbours",
    title="The compiler cannot prove that lanes are neighbours",
    message=(
        "But the loads of x are narrow, although the row length is a multiple of 16. The "
        "compiler must see adjacent lanes, an aligned start and one mask for all."
    ),
    next_step=(
        "Let the offsets end in `+ tl.arange(0, BLOCK)`, without factor, reversal or "
        "lookup, and use the mask `cols < n`."
    ),
    where=known_rows,
    broken=_load_is_narrow,
)
DIVISIBILITY_UNTOLD = CompilerRequirement(
    code="divisibility-untold",
    title="The compiler does not know that a row is whole vectors long",
    message=(
        "But the loads of x are narrow: a row is a multiple of 16 bytes, not of 16 "
        "elements. Triton checks only divisibility by 16, and otherwise assumes any "
        "number."
    ),
    next_step=(
        "Use `n // VECTOR * VECTOR`, with the tl.constexpr VECTOR = 16 // "
        "x.element_size() if that divides n, else 1."
    ),
    where=untold_rows,
    broken=_load_is_narrow,
)
MISALIGNED = CompilerRequirement(
    code="untrue-hint",
    title="The kernel claims that x is aligned, but it is not",
    message=(
        "But x starts in the middle of a vector here, as a part of a larger tensor may, "
        "and its loads are wide. On a GPU that is a misaligned address."
    ),
    next_step=(
        "Remove the hint on the pointer: Triton itself checks whether the address of an "
        "argument is divisible by 16."
    ),
    where=starts_elsewhere,
    broken=_load_is_wide,
)

# x, the first argument, is loaded 128 bits at a time, where it may be.
WIDE_LOADS = (
    MISALIGNED,
    SPECIALISATION_FORBIDDEN,
    FEW_FOR_EACH_THREAD,
    LANES_NOT_NEIGHBOURS,
    DIVISIBILITY_UNTOLD,
)


def no_spills(where: Where = wide_rows) -> CompilerRequirement:
    """The promise that what a thread works with has room in its registers."""
    return CompilerRequirement(
        code="registers-spilled",
        title="A thread's part of the block does not fit into its registers",
        message=(
            "But a thread has at most 255 registers, and its part of the block needs more. "
            "The rest spills: it is stored to memory and loaded again."
        ),
        next_step="Take a smaller block, or distribute it over more threads: `num_warps=8`.",
        where=where,
        broken=_spills,
    )
