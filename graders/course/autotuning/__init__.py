"""All that counts in the lesson autotuning: contract, references, mistakes, hidden cases."""
