"""All that counts in the lesson atomics_and_scans: contract, references, mistakes, hidden cases."""
