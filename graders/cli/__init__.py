"""The command `tilewise`: one module per topic."""
