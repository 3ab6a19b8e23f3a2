"""What a process that works on a submission may do: the layers of its jail."""
