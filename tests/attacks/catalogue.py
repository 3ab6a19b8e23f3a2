"""All attacks, by name."""

from __future__ import annotations

from dataclasses import replace

from tests.attacks import carrying, disguise, escape, exhaustion, forging, reading, theft
from tests.attacks.attack import Attack

# What these try fails without an error, and then an honest kernel is launched, which adds.
QUIET = frozenset(
    ("process-vm-readv", "ptrace", "libc-write", "site-packages", "libc-socket", "stop-judge")
)
ATTACKS: dict[str, Attack] = {
    f"{room}-{attack.name}": replace(attack, may_pass=attack.may_pass or attack.name in QUIET)
    for room, attacks in (
        ("forging", forging.ATTACKS),
        ("theft", theft.ATTACKS),
        ("escape", escape.ATTACKS),
        ("exhaustion", exhaustion.ATTACKS),
        ("disguise", disguise.ATTACKS),
        ("carrying", carrying.ATTACKS),
        ("reading", reading.ATTACKS),
    )
    for attack in attacks
}
