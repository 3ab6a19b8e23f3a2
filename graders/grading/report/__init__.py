"""The class report: its statistics, and its output files."""
