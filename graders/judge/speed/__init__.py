"""How fast a correct submission is, compared with the model solution and the hardware's limits."""
