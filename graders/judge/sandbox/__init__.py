"""Jailed worker processes: the untrusted side of the judge and the transport to it.

`pool` and `batch` run in the judge; `zygote`, `child`, `engine` and `jail` run in processes of
their own, which hold no reference and no hidden case; `protocol` is known to both.
"""
