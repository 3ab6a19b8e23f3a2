"""All that counts in the lesson capstone: contract, references, mistakes, hidden cases."""
