"""All that counts in the lesson autograd: contract, references, mistakes, hidden cases."""
