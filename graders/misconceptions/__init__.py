"""The misconceptions that the course knows by name, by topic, and how each is recognised."""
