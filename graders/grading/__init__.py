"""Grading a class: submissions in, marks and reports out."""
