"""How fast a right submission is, beside the model solution and the limits of the hardware."""
