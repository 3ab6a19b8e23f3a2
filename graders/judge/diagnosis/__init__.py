"""From failing cases to findings: which misconception is it, and what does it look like?"""
