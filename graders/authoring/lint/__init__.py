"""The rules that a lesson keeps; `tilewise build --lint` prints what is missing."""
