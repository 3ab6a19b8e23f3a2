"""The rules for lessons; `tilewise build --lint` prints what is missing."""
