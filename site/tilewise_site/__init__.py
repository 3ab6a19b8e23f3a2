"""Builds the public site: lessons are run, documents gathered, Sphinx and Pagefind do the rest."""
