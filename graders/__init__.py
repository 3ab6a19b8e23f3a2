"""What counts as solved: exercise records, the judge, the classroom and the command line.

Whose fault something is, decides what it becomes: a learner's mistake is a Finding in a Report,
raised only to leave a deep place; a fault of ours leaves a submission ungraded and never at zero.
All exceptions of the house, here and in `triton_util`:

    Exception
    ├── GraderError              ours, or the environment's: the submission stays ungraded
    │   ├── LessonError          an author's: names the file and the fix
    │   ├── CannotRun            an instructor's own tests: this machine has no jail for them
    │   ├── TooCostlyError       a submission used up the time that the judge has for it
    │   └── NotInterpretedError  the engine lacks an operation that Triton compiles
    ├── SubmissionError          a learner's: cannot be judged as handed in; becomes a finding
    ├── UnreadableFileError      an archive or a file in it that nobody can open
    ├── _Stopped                 a session of an instructor's own tests was ended
    ├── NoRoomError              the judge's own tensors do not fit on the device
    ├── KernelFault              a learner's kernel did what no GPU kernel may do
    ├── Divergence               inside the engine: programs of a batch take different ways
    ├── NeedsSerial              inside the engine: run the programs one after the other
    ├── OverBudget               inside the engine: a launch does more than it is granted
    ├── Unsupported              a statement that no kernel may contain
    ├── Opaque                   the sanitizer cannot describe a kernel to the compiler
    ├── NotImplementedError
    │   └── NotInterpreted       a GPU computes it, the engine does not: ours
    ├── RuntimeError
    │   ├── EngineUnavailable    triton was imported without its interpreter
    │   ├── NoGpuError           timing was asked for without a GPU
    │   ├── StopwatchError       a simulated stopwatch was used as none can be
    │   ├── TestError            a learner's test runs a kernel as its contract does not allow
    │   └── CannotCheckError     `tilewise run` cannot check this program here
    ├── KeyboardInterrupt
    │   └── Stopped              the learner stopped a check, whose card has said so
    ├── ValueError
    │   ├── NotThere             a learner's: an exercise, a hint, a question that there is not
    │   ├── ConditionError       a learner's: no condition of print_if and breakpoint_if
    │   ├── MarkError            an author's: a lesson names a measured figure that is not there
    │   └── PlanError            what captured a launcher sent no launch plan
    ├── NeedsValue               a launcher asked for a value of a tensor, and ends there
    ├── TooManySteps             a launcher did more than any launcher needs to
    ├── BrokenLineError          a plain function's process said what no stand-in says
    ├── EndedError               nothing more is said to such a process: it is ended
    ├── AssertionError
    │   └── NotPassedError       a learner's: fails the cell that `nbgrader validate` looks at
    ├── BesideError              raised by a function that ran in a process of its own
    ├── GatherError              a learner's: what `check` cannot read from the session
    ├── JudgeUnavailable         the judge's process could not answer: ours
    │   └── NotKnown             a learner's: no exercise, prediction or case study of that name
    ├── MalformedReport          the judge's answer lacks something: ours
    ├── NotTaken                 the class's service takes no more: a line for the learner
    ├── Refused                  the same, as the learner's side reads it
    ├── WorkerLost               a check's worker went: it is judged again
    ├── ExplainError             a learner's: why a kernel cannot be explained
    ├── AssemblerError           ptxas refused a kernel
    └── MissingAssemblerError    there is no ptxas here
"""
