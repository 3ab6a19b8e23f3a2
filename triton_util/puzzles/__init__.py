"""Practice that comes back: puzzles from kernels that were judged, and quiz questions once missed.

`practice` and `review` in `triton_util.client` are what a learner calls. The puzzles stand in a
file of this package, which `tilewise build --practice` writes; nothing here asks the judge.
"""
