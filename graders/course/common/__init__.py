"""Mistakes, wrong results and observations that several lessons share."""
