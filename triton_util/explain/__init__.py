"""What the compiler makes of a kernel, on any machine: see `explain`."""
