"""Computes each student's points for an assignment, for all reports, tables and pages."""
