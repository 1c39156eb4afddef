"""The control endpoint of an embedded cloud, for test code and commands."""
