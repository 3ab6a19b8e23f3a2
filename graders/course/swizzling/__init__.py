"""All that counts in the lesson swizzling: contract, references, mistakes, hidden cases."""
