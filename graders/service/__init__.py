"""`tilewise serve` shares one GPU with a class: an HTTP server, a fair queue and Dask workers.

`queue` decides whose turn it is, `dispatching` sends jobs to `workers`, `http` answers learners,
`identity` identifies them, `outgoing` limits what is sent out, and `board` shows who is fast.
"""
