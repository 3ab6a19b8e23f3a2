"""What nbgrader loads by name: preprocessors, exporters, collecting, the configuration."""
