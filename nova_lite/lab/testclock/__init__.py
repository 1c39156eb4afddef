"""A clock for the process of an embedded cloud that a test freezes and advances."""
