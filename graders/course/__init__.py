"""The lessons, a folder for each, and what they share."""
