"""The gates that run a submission: *interpret*, *traffic* and *gpu*."""
