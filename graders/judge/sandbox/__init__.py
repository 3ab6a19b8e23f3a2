"""Jailed worker processes: the untrusted side of the judge and the transport to it.

`pool` and `batch` run in the judge. `zygote`, `serve`, `child` and `engine` run in processes of
their own, which hold no reference and no hidden case. Both sides know `protocol`. What a worker
may do is enforced by `graders.judge.jail`.
"""
