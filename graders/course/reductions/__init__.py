"""All that counts in the lesson reductions: contract, references, mistakes, hidden cases."""
