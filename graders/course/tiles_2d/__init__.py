"""All that counts in the lesson tiles_2d: contract, references, mistakes, hidden cases."""
