"""Reads submitted files of every kind, and finds the part that the launcher needs."""
