"""The cases of exercises whose records would be too long with them."""
