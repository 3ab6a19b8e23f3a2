"""The jail: what a process that works on a submission may do, and what the kernel refuses it."""
