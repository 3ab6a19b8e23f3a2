"""The gate *compile*: compiles every kernel for sm_80 and sm_90, in a jail and without a GPU."""
