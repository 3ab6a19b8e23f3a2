"""The gate *read*: what may stand in kernels and launchers, from the syntax tree alone."""
