"""The gate *read*: checks what kernels and launchers contain, from the syntax tree alone."""
