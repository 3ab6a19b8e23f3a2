"""From the authors' sources to the course: lessons, stubs, notebooks, and their lint."""
