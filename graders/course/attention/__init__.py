"""All that counts in the lesson attention: contract, references, mistakes, hidden cases."""
