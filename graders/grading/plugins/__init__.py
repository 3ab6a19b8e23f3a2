"""Classes that nbgrader loads by name: preprocessors, exporters, collecting, configuration."""
