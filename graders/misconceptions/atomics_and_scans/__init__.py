"""What goes wrong with atomics and scans: counts, running sums, sums in parts."""
