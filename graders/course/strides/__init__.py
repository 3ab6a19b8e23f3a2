"""All that counts in the lesson strides: contract, references, mistakes, hidden cases."""
