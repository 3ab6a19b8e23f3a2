"""Messages about the Python of a kernel, its names and its launch.  See `messages`."""

from __future__ import annotations

Row = tuple[str, str, str, str]

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
        "if-on-block",
        r"Ternary expression with dynamic condition has inconsistent types.*<\[",
        "`a if condition else b` chooses once for the whole block, not lane by lane.",
        "Choose lane by lane with tl.where(condition, a, b).",
    ),
    (
        "assignment-twice",
        r"[Mm]ultiple assignments? (is|are) not supported",
        "Triton does not know a = b = value.",
        "Write two assignments.",
    ),
    (
        "kernel-returns",
        r"a launched kernel returns a value|'tt\.return' that was|type of return operand",
        "A kernel that is launched returns nothing, and this one returns a value.",
        "Give its result back with tl.store into a tensor; only a helper function that another "
        "kernel calls returns a value.",
    ),
    (
        "returns-differ",
        r"Cannot have `return` statements inside|Return type mismatch",
        "A kernel cannot return from inside a loop, nor return different types.",
        "Let the loop run over what is needed, and switch lanes off with a mask.",
    ),
    (
        "loop-changes-type",
        r"Loop-carried variable (?P<name>\w+) has initial type (?P<before>.{1,200}?) "
        r"but is re-assigned to (?P<after>.{1,200}?) in loop",
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
        "debugging-left-in",
        r"Cannot access global variable (?P<name>print_if|breakpoint_if)\b",
        "{name} is still in the kernel: it works in the interpreter only, and no GPU can run it.",
        "Take the line out before a check. While you look for a bug, it stays.",
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
        "A tl function was called outside a kernel, in ordinary Python: it works on the blocks of "
        "a kernel, not on tensors.",
        "Is this the launcher? Leave the computing to the kernel: allocate the output, launch "
        "kernel[grid](...), return the output. For sizes there are triton.cdiv and "
        "triton.next_power_of_2. A kernel, or what a kernel calls, has @triton.jit above its def.",
    ),
    (
        "print",
        r"is not string$|Cannot evaluate f-string",
        "On a GPU `print` takes a plain text and then values, and no f-string.",
        "Take it out before a check. While you look for a bug use print_if(text, conditions) in "
        'the interpreter, or print("pid", pid), which a GPU can do.',
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
        "python-range",
        r"'range' object|\bfor \S+: '(range|int|tensor|Block)' and 'range'|"
        r"cannot convert .*\brange\(",
        "Python's range is no block of numbers.",
        "Write tl.arange(0, BLOCK_SIZE), which gives a block of offsets; range is for loops.",
    ),
    (
        "length-asked",
        r"has no len\(\)",
        "A pointer is an address, and does not know how many elements lie there.",
        "Pass the number of elements from the launcher: n_elements = x.numel().",
    ),
    (
        "dtype-called",
        r"'dtype' object is not callable",
        "A dtype such as tl.float32 or tl.int64 is not a function: it cannot be called with ( ).",
        "Convert with .to(dtype): x.to(tl.float32) for a block, pid.to(tl.int64) for a number.",
    ),
    (
        "dtype-called",
        r"'(constexpr|str|int)' object is not callable",
        "Round brackets ( ) call a function, and what stands before them here is a value, not a "
        "function.",
        "Is it a dtype? Convert with .to(dtype): x.to(tl.float32), not tl.float32(x). Is it a "
        "number, as a block size or a program id is? Take the brackets away, or write the * that "
        "is missing before them.",
    ),
    (
        "shape-for-a-number",
        r"can only concatenate tuple|'tuple' object has no attribute '?\w+|torch\.Size\b|"
        r"'\w+' is not in list|"  # of a tuple, on Triton 3.6
        r"'tuple' and '(int|tensor)'|'(int|tensor)' and 'tuple'|"
        r"tuple\[[^\]]*\] and triton|unsupported tensor index.*tuple",
        "A tuple of numbers stands where one number is needed.",
        "x.shape holds all sizes: x.numel() is the number of elements, x.shape[0] the number of "
        "rows. x.stride() holds all strides: x.stride(0) is the first of them. A comma makes a "
        "tuple, too: 0,5 is two numbers, and 0.5 one.",
    ),
    (
        "block-pointers",
        r"[Bb]lock pointers have been removed|make_block_ptr",
        "Block pointers (tl.make_block_ptr, tl.advance) are gone from this version of Triton.",
        "Make a block of pointers and a mask instead: "
        "`pointers = x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col` and "
        "`tl.load(pointers, mask=(rows[:, None] < n_rows) & (cols[None, :] < n_cols))`. In place "
        "of tl.advance add to the pointers or the offsets.",
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
        "{guess}A kernel sees its parameters, what it has assigned before this line, and global "
        "tl.constexpr values, not the variables of the launcher.",
    ),
    (
        "no-such-function",
        r"module 'triton\.language\.extra\S*' has no attribute '(?P<name>\w+)'",
        "libdevice has no {name}.",
        "Its names are those of CUDA's libdevice without `__nv_`, and differ between versions of "
        "Triton. Maximum, exp, sqrt and the like are in tl itself.",
    ),
    (
        "no-such-function",
        r"module 'triton\.language\S*' has no attribute '(?P<name>\w+)'",
        "tl has no {name}.",
        "{guess}",
    ),
    (
        "no-such-function",
        r"'(tensor|dtype|pointer_type|block_type)' object has no attribute '(?P<name>\w+)'",
        "A block has no attribute {name}.",
        "Blocks are not torch tensors: use tl functions on them, such as tl.sum(x, axis=0) or "
        "x.to(tl.float32). Sizes and strides are passed in by the launcher.",
    ),
    (
        "no-such-function",
        r"'(constexpr|int)' object has no attribute '(?P<name>\w+)'",
        "This value is a plain number here: Triton turns an argument that is 1 into a constant, "
        "and a constant has no .{name}.",
        "Convert the block or program id that it is multiplied with instead.",
    ),
    (
        "not-imported",
        r"'NoneType' object (has no attribute|is not (callable|subscriptable))",
        "Something here is None.",
        "An optional argument was left out, or a function without `return` was used as a value.",
    ),
)

CALLS: tuple[Row, ...] = (
    (
        "call-argument-missing",
        r"\b(?!dynamic_func\b)(?P<function>\w+)\(\) missing \d+ required "
        r"(keyword-only |positional )?arguments?: (?P<names>.*)",
        "The call of {function} lacks an argument: {names}.",
        "{usage}",
    ),
    (
        "call-arguments-too-many",
        r"\b(?!dynamic_func\b)(?P<function>\w+)\(\) takes (from )?[\d to]+ positional "
        r"arguments? but \d+",
        "{function} is called with too many arguments.",
        "{usage}",
    ),
    (
        "call-argument-twice",
        r"\b(?!dynamic_func\b)(?P<function>\w+)\(\) got multiple values for argument "
        r"'(?P<name>\w+)'",
        "{function} gets its argument {name} twice: by its place and by its name.",
        "{usage}",
    ),
    (
        "call-argument-unknown",
        r"\b(?!dynamic_func\b)(?P<function>\w+)\(\) got an unexpected keyword argument "
        r"'(?P<name>\w+)'",
        "{function} has no parameter called {name}.",
        "{guess}",
    ),
)

LAUNCHES: tuple[Row, ...] = (
    (
        "jit-missing",
        r"'function' object has no attribute 'arg_names'",
        "This decorator needs a kernel, and the function below it is plain Python.",
        "Write @triton.jit on the line directly above `def`; @triton.autotune and "
        "@triton.heuristics stand above it.",
    ),
    (
        "not-a-constant",
        r"argument (?P<name>\w+) holds a (?P<kind>\w+), which is no constant",
        "The launch passes {name} as a constant, and in it is a {kind}, which is none.",
        "Constants are numbers, texts, dtypes, kernels, and tuples of these. Pass each tensor as "
        "an argument of its own, without tl.constexpr.",
    ),
    (
        "constexpr-missing",
        r"missing a required argument: '(?P<name>\w+)'|"
        r"dynamic_func\(\) missing \d+ required (keyword-only |positional )?arguments?: "
        r"(?P<names>.*)",
        "The launch passes too few arguments: none is left for {name}.",
        "Compare the launch with the kernel's `def` line, place by place, and add the argument "
        "that is missing, at its own place. Pass block sizes by name: "
        "kernel[grid](x, n, BLOCK_SIZE=1024).",
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
        r"grid sizes are at most|Triton Error \[CUDA\]: invalid argument",
        "The grid has too many programs along one axis.",
        "A GPU starts up to 2**31 - 1 programs along axis 0, but only 65535 along axes 1 and 2: "
        "put the long axis first.",
    ),
    (
        "grid",
        r"a grid of \d+ programs would not come to its end",
        "The grid has so many programs that no GPU comes to their end.",
        "Let each program work on a block, and launch one program for each block: "
        "(triton.cdiv(n, BLOCK_SIZE),).",
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
        r"out of resource: shared memory, Required: (?P<needed>\d+), "
        r"Hardware limit: (?P<limit>\d+)",
        "A program of the kernel needs {needed} bytes of shared memory, and this GPU has {limit} "
        "for it.",
        "Use smaller blocks or fewer stages: num_stages=2.",
    ),
    (
        "out-of-resource",
        r"out of resource: (?P<what>[\w ]+), Required: (?P<needed>\d+), "
        r"Hardware limit: (?P<limit>\d+)",
        "The kernel needs {needed} of {what}, and the GPU has {limit}.",
        "Use smaller blocks or fewer stages: num_stages=2.",
    ),
    (
        "float-for-a-whole-number",
        r"unexpected type fp\d+",
        "A whole number is needed here, and this is a float.",
        "In a kernel / divides to a float: use // and %.",
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
