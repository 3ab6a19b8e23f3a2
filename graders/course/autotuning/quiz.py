"""The questions of the lesson autotuning."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "What is `key` in `@triton.autotune(configs=..., key=[...])` for?",
        (
            Choice(
                "It names the meta-parameters that are tuned",
                "The configurations name those. The key says when to search *again*.",
            ),
            Choice(
                "A new value of these arguments starts a new search",
                "Yes. For each new combination every configuration is timed again.",
                right=True,
            ),
            Choice(
                "It sorts the configurations, so that the search can stop early",
                "The tuner times every configuration. Their order plays no part.",
            ),
            Choice(
                "It names the arguments that are compile-time constants",
                "`tl.constexpr` in the kernel's signature does that.",
            ),
        ),
    ),
    Question(
        "A kernel is autotuned with two configurations. Its tiles need one program each, on one "
        "axis. Which grid is correct?",
        (
            Choice(
                "`(triton.cdiv(n, 1024),)`",
                "The grid is then the same for both configurations, and fits at most one block "
                "size.",
            ),
            Choice(
                "`lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)`",
                "Yes: the tuner calls it with the meta-parameters of each configuration that it "
                "runs.",
                right=True,
            ),
            Choice(
                "`lambda meta: (n,)`",
                "That starts a program for each element. Almost all of them have nothing to do.",
            ),
            Choice(
                "`(triton.cdiv(n, some_kernel.best_config.kwargs['BLOCK_SIZE']),)`",
                "The tuner has no best configuration before its first launch, and the grid "
                "would be fixed during the search.",
            ),
        ),
    ),
    Question(
        "A kernel updates its input in place and is autotuned. What goes wrong?",
        (
            Choice(
                "Nothing, because only the last run counts",
                "Each run starts from the data that the previous run left.",
            ),
            Choice(
                "Each timed run changes the data for the next run",
                "Yes: use `restore_value` or `reset_to_zero`, or write to another tensor.",
                right=True,
            ),
            Choice(
                "The tuner raises an error, because the results of its runs differ",
                "The tuner does not compare results.",
            ),
            Choice(
                "The times are wrong, because in-place kernels are faster",
                "The times are fine. The contents of the tensor are wrong.",
            ),
        ),
    ),
    Question(
        "`def keep(configs, named_args, **kwargs): return [c for c in configs if c.num_warps == "
        "8]` prunes a list in which all configurations have 4 warps. What is missing?",
        (
            Choice(
                "It should compare `c.kwargs['num_warps']`",
                "`num_warps` is an attribute of the configuration. `kwargs` has the kernel's "
                "own meta-parameters.",
            ),
            Choice(
                "A fallback: it returns an empty list",
                "Yes: return at least one configuration, for example `kept or configs[:1]`.",
                right=True,
            ),
            Choice(
                "It should compile each configuration before it removes one",
                "Pruning is there to avoid these compilations.",
            ),
            Choice(
                "Nothing: the tuner then tries all configurations",
                "The tuner tries what the function returns. With an empty list it fails.",
            ),
        ),
    ),
    Question(
        "Which measurement must never choose a configuration?",
        (
            Choice(
                "The time in the interpreter",
                "Yes. It measures numpy on your CPU, not a GPU.",
                right=True,
            ),
            Choice(
                "The median time on the GPU that will run the kernel",
                "That is the measurement to use.",
            ),
            Choice(
                "The time on this GPU with cold caches, measured over many runs",
                "That is a careful measurement on the correct machine.",
            ),
            Choice(
                "The median of hundreds of launches on the same inputs",
                "With a kernel that only writes its output, that is what the tuner does.",
            ),
        ),
    ),
)
