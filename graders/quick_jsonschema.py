"""Importing this imports jsonschema, which nbformat needs, without the grammars of addresses.

Where the package `rfc3987_syntax` is installed, as Jupyter's server asks for it, jsonschema's
import builds its 39 grammars: two to three seconds of the processor in each command. They only
say whether a text is an address, which no schema of a notebook asks. jsonschema goes without the
package where it is missing, so it is hidden for that moment.
"""

from __future__ import annotations

import importlib
import sys

_GRAMMARS = "rfc3987_syntax"

if _GRAMMARS not in sys.modules:
    sys.modules[_GRAMMARS] = None  # type: ignore[assignment]  # the import system's word for "not there"
    try:
        importlib.import_module("jsonschema")
    finally:
        del sys.modules[_GRAMMARS]
