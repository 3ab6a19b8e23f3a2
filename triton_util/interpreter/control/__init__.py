"""Control flow of many programs at once: rewritten branches and loops, and merged variables."""
