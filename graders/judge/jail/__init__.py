"""The jail: limits what a process may do that works on a submission; the kernel enforces it."""
