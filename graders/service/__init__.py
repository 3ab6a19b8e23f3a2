"""One GPU for a whole class: `tilewise serve`, a fair queue behind HTTP in front of Dask workers.

`queue` decides whose turn it is, `dispatching` hands jobs to `workers`, `http` speaks to learners,
`identity` says who they are, `outgoing` what may leave, and `board` shows who is fast.
"""
