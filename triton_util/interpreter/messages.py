"""The table of error messages: what Triton says, and what a tutor would say instead.

Each row is (kind, pattern, sentence, advice).  The pattern is searched in the text of the error;
its named groups may be used in the sentence and the advice.  The first row that matches wins.
"""

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
        "too-many-indices",
        r"unsupported tensor index",
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
        "tl.arange needs numbers that are known when the kernel is compiled.",
        "Declare the parameter as BLOCK_SIZE: tl.constexpr. A length that is known only at run "
        "time belongs into the mask, not into tl.arange.",
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
        r"First input shape .* and second input shape .* are not compatible",
        "tl.dot(a, b) needs a of shape (M, K) and b of shape (K, N), with the same K.",
        "Check the offsets of both loads: the K axis is the second of a and the first of b. "
        "tl.trans turns a block round.",
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
        r"Unsupported ptr type .* in `tl\.(?P<what>load|store)`",
        "tl.{what} needs pointers, and these are numbers.",
        "Add the offsets to a pointer argument: tl.{what}(x_ptr + offsets, ...).",
    ),
    (
        "pointer-arithmetic",
        r"cannot add pointers together",
        "Two pointers cannot be added.",
        "Add numbers to one pointer: x_ptr + row * stride + columns.",
    ),
    (
        "float-offset",
        r"invalid operands of type pointer<\w+> and triton\.language\.(float|fp|bfloat)\w*",
        "An offset must be a whole number, and this one is a float.",
        "In Python and Triton `/` gives a float; use // for whole numbers.",
    ),
    (
        "pointer-arithmetic",
        r"invalid operands of type (pointer<|\S+ and pointer<)",
        "Pointers only know + and - with a number of elements.",
        "Do the arithmetic on the offsets first, then add them to the pointer.",
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
        "A grid has at most three axes: 0, 1 and 2.",
        "Fold more axes into one and take them apart with // and %.",
    ),
)

PYTHON: tuple[Row, ...] = (
    (
        "if-on-block",
        r"Boolean value of Tensor with more than one value is ambiguous|"
        r"truth value of a(n array| block)|'scf.(condition|if)' op operand",
        "`if` and `while` need one answer, and this condition is a whole block of them.",
        "Choose lane by lane with tl.where(condition, a, b), or switch lanes off with a mask; for "
        "one answer reduce the block first, say with tl.max(condition, axis=0).",
    ),
    (
        "assignment-twice",
        r"[Mm]ultiple assignments? (is|are) not supported",
        "Triton does not know a = b = value.",
        "Write two assignments.",
    ),
    (
        "returns-differ",
        r"Cannot have `return` statements inside|Return type mismatch",
        "A kernel cannot return from inside a loop, nor return different types.",
        "Let the loop run over what is needed, and switch lanes off with a mask.",
    ),
    (
        "loop-changes-type",
        r"Loop-carried variable (?P<name>\w+) has initial type (?P<before>.+?) "
        r"but is re-assigned to (?P<after>.+?) in loop",
        "The variable {name} is {before} before the loop and becomes {after} inside it.",
        "Give it its final dtype from the start: {name} = 0.0, or "
        "tl.zeros((BLOCK_SIZE,), dtype=tl.float32).",
    ),
    (
        "branches-differ",
        r"[Mm]ismatched type for (?P<name>\w+) between then block|inconsistent types",
        "The two branches leave a variable with different types.",
        "Convert both to the same dtype and shape, or use tl.where.",
    ),
    (
        "global-variable",
        r"Cannot access global variable (?P<name>\w+)",
        "The kernel reads {name}, an ordinary global variable.",
        "Pass it as an argument (a tl.constexpr one if it is a block size), or declare it as "
        "{name} = tl.constexpr(...).",
    ),
    (
        "jit-missing",
        r"Did you forget to add @triton\.jit",
        "A tl function was called outside a kernel.",
        "Put @triton.jit above the function; in ordinary Python use triton.cdiv and "
        "triton.next_power_of_2 instead of their tl versions.",
    ),
    (
        "unsupported-python",
        r"unsupported AST node type: (?P<node>\w+)",
        "A kernel cannot contain this piece of Python ({node}): a GPU has nothing to run it with.",
        "A kernel knows arithmetic on blocks, if, for over range, while, and calls of other "
        "@triton.jit functions. No try, break, lambda, list, with, import or print of objects.",
    ),
    (
        "unsupported-python",
        r"only tuple comprehensions|iterators are currently supported|NotImplementedError\(|"
        r"nested function|keyword arguments are not supported",
        "A kernel cannot contain this piece of Python.",
        "A kernel knows arithmetic on blocks, if, for over range, while, and calls of other "
        "@triton.jit functions.",
    ),
    (
        "torch-in-kernel",
        r"must be Tensor, not tensor|must be real number, not tensor|"
        r"Unsupported function referenced|"
        r"loop of ufunc does not support|can't convert .* to (Tensor|numpy)|"
        r"expected Tensor as|\bnumpy\b.*tensor",
        "torch, numpy and math functions do not work on the blocks of a kernel.",
        "Use their tl versions (tl.exp, tl.maximum, tl.sum, ...); torch belongs into the launcher.",
    ),
)

NAMES: tuple[Row, ...] = (
    (
        "program-id-called",
        r"\b'?(program_id|num_programs|load|store|arange|cdiv|zeros|dot|exp)'? is not defined",
        "Triton's functions live in tl: the prefix is missing.",
        "Write tl.program_id(0), tl.load(...), tl.store(...), tl.arange(...).",
    ),
    (
        "defined-in-one-branch",
        r"cannot access local variable '(?P<name>\w+)'|variable that is not defined on this path|"
        r"local variable '(?P<old>\w+)' referenced before assignment",
        "A variable is used that not every path of the kernel has set.",
        "Set it before the `if`, or in both branches; both must give it the same dtype.",
    ),
    (
        "undefined-name",
        r"name '(?P<name>\w+)' is not defined|NameError\('(?P<other>\w+) is not defined",
        "The kernel uses a name that does not exist: {name}.",
        "Check the spelling, and whether it is a parameter of the kernel. A kernel sees its "
        "parameters and global tl.constexpr values, not the variables of the launcher.",
    ),
    (
        "no-such-function",
        r"module 'triton\.language\S*' has no attribute '(?P<name>\w+)'",
        "tl has no {name}.",
        "Check the spelling. What torch calls one way, Triton may call another: tl.arange, "
        "tl.maximum, tl.where, tl.sum, tl.cdiv.",
    ),
    (
        "no-such-function",
        r"'(tensor|dtype|pointer_type|block_type)' object has no attribute '(?P<name>\w+)'",
        "A block has no attribute {name}.",
        "Blocks are not torch tensors: use tl functions on them, such as tl.sum(x, axis=0) or "
        "x.to(tl.float32). Sizes and strides are passed in by the launcher.",
    ),
    (
        "not-imported",
        r"'NoneType' object (has no attribute|is not (callable|subscriptable))",
        "Something here is None.",
        "An optional argument was left out, or a function without `return` was used as a value.",
    ),
)

LAUNCHES: tuple[Row, ...] = (
    (
        "constexpr-missing",
        r"missing a required argument: '(?P<name>\w+)'|"
        r"missing \d+ required (keyword-only |positional )?arguments?: (?P<names>.*)",
        "The launch leaves out a parameter of the kernel: {name}.",
        "Pass every parameter, block sizes by name: kernel[grid](x, n, BLOCK_SIZE=1024).",
    ),
    (
        "unknown-argument",
        r"Keyword argument (?P<name>\w+) was specified but unrecognised|"
        r"got an unexpected keyword argument '(?P<other>\w+)'",
        "There is no parameter called {name}.",
        "Compare the names at the launch with those in the kernel's `def` line.",
    ),
    (
        "too-many-arguments",
        r"too many positional arguments|takes \d+ positional arguments? but \d+ (was|were) given|"
        r"multiple values for argument",
        "The call passes more arguments than there are parameters, or one of them twice.",
        "Compare the call with the `def` line, one by one. x.stride() gives as many numbers as x "
        "has axes.",
    ),
    (
        "grid",
        r"grid sizes are at most",
        "The grid has too many programs along one axis.",
        "A GPU starts up to 2**31 - 1 programs along axis 0, but only 65535 along axes 1 and 2: "
        "put the long axis first.",
    ),
    (
        "grid",
        r"grid (must|sizes)|grid must have at most 3 dimensions",
        "The grid is not a tuple of one to three whole numbers.",
        "Write kernel[(triton.cdiv(n, BLOCK_SIZE),)](...): the comma makes it a tuple, and "
        "triton.cdiv gives a whole number where / gives a float.",
    ),
    (
        "cpu-tensor",
        r"cannot be accessed from Triton \(cpu tensor\?\)",
        "A tensor lies in the memory of the CPU, and the kernel runs on the GPU.",
        "Make it with device='cuda', or move it with .to('cuda').",
    ),
    (
        "shared-memory",
        r"out of resource: (?P<what>[\w ]+), Required: (?P<needed>\d+), "
        r"Hardware limit: (?P<limit>\d+)",
        "The kernel needs {needed} of {what}, and the GPU has {limit}.",
        "Use smaller blocks or fewer stages: num_stages=2.",
    ),
    (
        "static-assert",
        r"CompileTimeAssertionFailure|static_assert|static assert|^AssertionError: (?P<text>.*)",
        "A condition that the kernel insists on does not hold.",
        "Read the line: it states which sizes the kernel is made for.",
    ),
    (
        "zero-division",
        r"ZeroDivisionError|division by zero|modulo by zero",
        "Something is divided by zero.",
        "A size or a stride is 0 here: look at what the launcher passes.",
    ),
    (
        "recursion",
        r"RecursionError|maximum recursion depth",
        "A kernel cannot call itself.",
        "Write a loop.",
    ),
    (
        "invalid-ir",
        r"error encountered during parsing|PassManager::run failed|failed to (translate|legalize)",
        "The compiler gave up on this kernel.",
        "Usual causes: `while` or `if` on a block, or blocks whose dtypes and shapes change.",
    ),
)

ROWS: tuple[Row, ...] = (*INDEXING, *RANGES, *SHAPES, *DOTS, *TYPES, *PYTHON, *NAMES, *LAUNCHES)
