"""Messages about blocks: indices, lengths, shapes, dot products and dtypes.  See `messages`."""

from __future__ import annotations

Row = tuple[str, str, str, str]

INDEXING: tuple[Row, ...] = (
    (
        "pointer-indexed",
        r"cannot index a pointer|__setitem__ is not supported|"
        r"object does not support item assignment",
        "A pointer cannot be indexed with [ ].",
        "A kernel gets the address of the first element. Add offsets to it and load or store "
        "there: tl.load(x_ptr + offsets, mask=mask), tl.store(x_ptr + offsets, value, mask=mask).",
    ),
    (
        "scalar-indexed",
        r"too many indices for tensor of rank 0",
        "A single number cannot be spread with [:, None].",
        "It is a number, not a block: use it as it is, or make a block of it with "
        "tl.full((BLOCK_SIZE,), value, tl.float32).",
    ),
    (
        "too-many-indices",
        r"too many indices for tensor|unsupported tensor index",
        "A block cannot be sliced or indexed with numbers.",
        "Inside [ ] a block takes only `:` and None, as in offsets[:, None]. To use some of its "
        "elements, load those, or pick them with tl.where and tl.sum.",
    ),
)

RANGES: tuple[Row, ...] = (
    (
        "range-not-power-of-two",
        r"range must be a power of 2|must be a power of (2|two)|is not a power of (2|two)",
        "The length of a block must be a power of two.",
        "Take the next power of two, triton.next_power_of_2(n), and switch the surplus lanes off "
        "with a mask: offsets < n.",
    ),
    (
        "range-needs-constexpr",
        r"arange's arguments must be of type tl.constexpr",
        "tl.arange needs whole numbers that are known when the kernel is compiled.",
        "Declare the parameter as BLOCK_SIZE: tl.constexpr, and pass a whole number (1024, not "
        "1024.0). A length that is known only at run time belongs into the mask.",
    ),
    (
        "range-empty",
        r"arange's end argument must be greater than the start",
        "tl.arange(start, end) needs an end beyond its start.",
        "Count from 0: tl.arange(0, BLOCK_SIZE).",
    ),
    (
        "shape-not-constexpr",
        r"Shape element (?P<axis>\d+) must have type `?constexpr",
        "The shape of a block must be known when the kernel is compiled.",
        "Use tl.constexpr parameters in the shape; what varies at run time belongs into a mask.",
    ),
    (
        "block-too-large",
        r"numel \((?P<size>\d+)\) exceeds triton maximum tensor numel \((?P<most>\d+)\)",
        "A block of {size} elements is too large: Triton allows {most}.",
        "Let each program handle a smaller block and start more programs, or loop over blocks.",
    ),
)

SHAPES: tuple[Row, ...] = (
    (
        "shapes-do-not-fit",
        r"incompatible dimensions at index (?P<axis>\d+): (?P<left>\d+) and (?P<right>\d+)",
        "Two blocks do not fit together: axis {axis} has {left} elements in one and {right} in "
        "the other.",
        "The mask, the pointers and the value must have the same shape. Make rows and columns "
        "with [:, None] and [None, :].",
    ),
    (
        "shapes-do-not-fit",
        r"Cannot broadcast, (rank mismatch|the expanded size)|make_shape_compatible",
        "Two blocks do not fit together.",
        "The mask, the pointers and the value must have the same shape. Make rows and columns "
        "with [:, None] and [None, :].",
    ),
    (
        "store-shape",
        r"Value argument cannot be block type if pointer argument is not a block",
        "tl.store gets a whole block of values but only one pointer.",
        "Add a block of offsets to the pointer, or reduce the value to one number, "
        "say with tl.sum(value, axis=0).",
    ),
    (
        "mask-on-scalar",
        r"Mask argument cannot be block type if pointer argument is not a block",
        "The mask is a block, but there is only one pointer.",
        "Add the offsets to the pointer: tl.load(x_ptr + offsets, mask=mask).",
    ),
    (
        "mask-without-other",
        r"`other` cannot be provided without `mask`",
        "`other` says what masked lanes get, but there is no mask.",
        "Pass mask=... as well, or drop `other`.",
    ),
    (
        "trans-of-one-axis",
        r"tl\.trans invoked with a 0- or 1-dimensional|permute dims must have the same length",
        "tl.trans exchanges the two axes of a 2D tile, and this block has another number of axes: "
        "a 1D block has one axis, so that there is nothing to exchange.",
        "Take tl.trans away. To make a column or a row of a 1D block write x[:, None] or "
        "x[None, :]. To transpose a matrix with 1D blocks, load from one place and store to "
        "another: compute the offsets of the load from row and column exchanged.",
    ),
    (
        "reshape-size",
        r"cannot change total number of elements",
        "A reshape must keep the number of elements.",
        "Multiply the new sizes: the product has to be the number of elements of the block.",
    ),
    (
        "axis-out-of-range",
        r"axis (?P<axis>-?\d+) out of bounds for shape|invalid axis|list index out of range",
        "There is no such axis in this block.",
        "Axes count from 0: a block of shape (BLOCK_M, BLOCK_N) has the axes 0 and 1.",
    ),
)

DOTS: tuple[Row, ...] = (
    (
        "dot-dtypes",
        r"Both operands must be (either int8 or )?(of the )?same d?type|"
        r"First input \((?P<a>\w+)\) and second input \((?P<b>\w+)\) must have the same dtype",
        "tl.dot needs two operands of the same dtype.",
        "Convert one of them: b.to(a.dtype). The accumulator stays float32.",
    ),
    (
        "dot-shapes",
        r"must have equal reduction dimensions|"
        r"First input shape .{1,200} are not compatible",
        "tl.dot(a, b) needs a of shape (M, K) and b of shape (K, N), with the same K.",
        "Check the offsets of both loads: the K axis is the second of a and the first of b. "
        "tl.trans turns a block round.",
    ),
    (
        "dot-accumulator-shape",
        r"accumulator shape is incompatible",
        "The accumulator does not have the shape of the product: tl.dot(a, b, accumulator) of "
        "(M, K) and (K, N) is (M, N).",
        "Are a and b in this order, and the accumulator tl.zeros((BLOCK_M, BLOCK_N), "
        "dtype=tl.float32)?",
    ),
    (
        "dot-of-vectors",
        r"must have equal ranks >= 2|Both inputs must be either 2D or 3D|must be 2D",
        "tl.dot multiplies matrices, and these are not.",
        "For two vectors use tl.sum(a * b, axis=0); for matrices load blocks with two axes.",
    ),
    (
        "dot-too-small",
        r"Input shapes should have M >= (?P<m>\d+), N >= (?P<n>\d+) and K >= (?P<k>\d+)",
        "The blocks are too small for tl.dot, which needs M >= {m}, N >= {n} and K >= {k}.",
        "Use blocks of 16 or more along each axis and mask what is not there.",
    ),
    (
        "accumulator-dtype",
        r"Ret block type doesn't match|out_dtype=\S+ is unsupported|acc.*dtype",
        "The accumulator of tl.dot has the wrong dtype.",
        "Make it float32: tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32); convert the result when "
        "you store it.",
    ),
)

TYPES: tuple[Row, ...] = (
    (
        "load-of-a-number",
        r"Unsupported ptr type .* in `tl\.load`",
        "tl.load needs pointers, and these are numbers.",
        "Add the offsets to a pointer argument: tl.load(x_ptr + offsets, ...).",
    ),
    (
        "store-to-a-number",
        r"Unsupported ptr type .* in `tl\.store`",
        "tl.store needs pointers, and these are numbers: the place comes first, and the value "
        "second.",
        "Add the offsets to the pointer of the output: tl.store(output_ptr + offsets, value, "
        "mask=mask).",
    ),
    (
        "pointers-added",
        r"cannot add pointers together",
        "Two pointers cannot be added: they are addresses, not the numbers that lie there.",
        "To add the numbers, load both first: x = tl.load(x_ptr + offsets, mask=mask). To find an "
        "address, add offsets to one pointer: x_ptr + row * stride + columns.",
    ),
    (
        "float-offset",
        r"invalid operands of type pointer<\w+> and triton\.language\.(float|fp|bfloat)\w*",
        "An offset must be a whole number, and this one is a float.",
        "In Python and Triton `/` gives a float; use // for whole numbers. A pointer that shall "
        "give its numbers is loaded first: tl.load(x_ptr + offsets, mask=mask).",
    ),
    (
        "pointer-arithmetic",
        r"invalid operands of type (pointer<|\S+ and pointer<)",
        "Pointers only know + and - with a number of elements.",
        "Do the arithmetic on the offsets first, then add them to the pointer. Are the numbers "
        "behind the pointer meant? Load them first: x = tl.load(x_ptr + offsets, mask=mask).",
    ),
    (
        "integer-operator",
        r"invalid operands of type triton\.language\.(float|fp|bfloat)\w* and",
        "The operators & | ^ << >> work on integers and masks, not on floats.",
        "To choose lanes use tl.where(condition, a, b); to combine conditions use & between "
        "comparisons, each in brackets.",
    ),
    (
        "pointer-arithmetic",
        r"invalid operands of type",
        "These two dtypes cannot be combined by this operator.",
        "Convert one of them with .to(dtype).",
    ),
    (
        "function-needs-float",
        r"Expected dtype \[(?P<wanted>[^\]]*)\] but got (?P<got>\w+)",
        "This function is there for {wanted}, and it got {got}.",
        "Convert first: x.to(tl.float32).",
    ),
    (
        "cast-width",
        r"[Cc]annot bitcast data-type of size (?P<a>\d+) to data-type of size (?P<b>\d+)",
        "Bits can only be reinterpreted in the same width, not from {a} to {b} bits.",
        "For conditions compare with 0 first; for numbers use .to(dtype) without bitcast.",
    ),
    (
        "program-id-axis",
        r"program_id axis must be 0, 1, or 2",
        "A grid has at most three axes, and they are called 0, 1 and 2.",
        "Write tl.program_id(0), or tl.program_id(1) for the second axis. Fold more axes into one "
        "and take them apart with // and %.",
    ),
)
