"""All that counts in the lesson memory_vs_compute: contract, references, mistakes, hidden cases."""
