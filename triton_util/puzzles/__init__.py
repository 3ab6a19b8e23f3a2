"""Practice that comes back: puzzles from judged kernels, and quiz questions that were missed.

Learners call `practice` and `review` in `triton_util.client`. `tilewise build --practice` writes
the puzzles to a file of this package; nothing here asks the judge.
"""
