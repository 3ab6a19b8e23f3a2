"""The capstone: a small language model of characters that trains on the learner's own kernels."""
