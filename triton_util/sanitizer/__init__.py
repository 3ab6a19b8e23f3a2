"""Checks every kernel launch of any program or test suite on the CPU, and reports once at the end.

`tilewise run script.py` and `pytest --tilewise` are its two faces; `checking` is what both use.
Nothing heavy is imported before it is needed: pytest loads the plug-in on every start.
"""
