"""The report of the judge. Its records are in `triton_util.report`, which the client reads, too."""

from triton_util.report import (
    BytesMoved as BytesMoved,
)
from triton_util.report import (
    Finding as Finding,
)
from triton_util.report import (
    GateStatus as GateStatus,
)
from triton_util.report import (
    KernelResources as KernelResources,
)
from triton_util.report import (
    Picture as Picture,
)
from triton_util.report import (
    Report as Report,
)
from triton_util.report import (
    Side as Side,
)
from triton_util.report import (
    Speed as Speed,
)
from triton_util.report import (
    Table as Table,
)
from triton_util.report import (
    Verdict as Verdict,
)
from triton_util.report import (
    awaits_gpu as awaits_gpu,
)
from triton_util.report import (
    ungraded_finding as ungraded_finding,
)
