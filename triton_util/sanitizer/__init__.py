"""Checks every kernel launch of any program or test suite on the CPU; one report at the end.

`tilewise run script.py` and `pytest --tilewise` start it; both use `checking`.
Heavy modules are imported only when needed, because pytest loads the plug-in on every start.
"""
