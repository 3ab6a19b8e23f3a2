"""Jailed worker processes, which run untrusted code, and their communication with the judge.

`pool`, `tasks`, `warm` and `batch` run in the judge process. `zygote`, `serving`, `serve`,
`run_task` and `engine` run in separate processes without references and hidden cases. Both sides
use `protocol`.
`graders.judge.jail` enforces what a worker may do.
"""
