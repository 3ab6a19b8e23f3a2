"""Runs the judge as an autograder of Gradescope, inside Gradescope's own container."""
