"""The judge: a submission goes in, a report comes out. The trusted side of the pipe."""
