"""The operations of the Triton language on batches of programs."""
