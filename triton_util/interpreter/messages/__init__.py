"""Errors and faults in sentences: the table of messages, and the reports built from it."""
