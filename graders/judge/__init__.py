"""The judge: it takes a submission and returns a report. This package is the judge process."""
