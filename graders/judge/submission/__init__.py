"""Reading what was handed in: files of every kind, and the part of them that the launcher needs."""
