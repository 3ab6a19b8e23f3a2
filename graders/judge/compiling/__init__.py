"""The gate *compile*: every kernel for sm_80 and sm_90, in a jailed process without a GPU."""
