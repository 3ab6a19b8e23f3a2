"""All that counts in the lesson decoding: contract, references, mistakes, hidden cases."""
