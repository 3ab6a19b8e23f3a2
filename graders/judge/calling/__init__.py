"""Calls a plain function of a submission: it runs in a jail, its arguments stay in the judge."""
