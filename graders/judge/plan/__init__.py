"""The launch plan: its data, its reader, and the code that runs it."""
