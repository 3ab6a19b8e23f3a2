"""Calling a plain function of a submission: it runs in a jail, and what it is given stays here."""
