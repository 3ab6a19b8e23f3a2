"""What cards are made of: their look, and their pictures."""
