"""Hidden cases and speed bars, one module per lesson slug. They never ship to learners."""

# (share of the model solution's speed on the same GPU, bonus points). Half of it takes a right
# idea; four fifths take care with blocks and accesses, and leave room for the noise of a GPU.
BARS = ((0.5, 1), (0.8, 1))
