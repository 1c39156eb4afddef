"""Monitoring: whether a daemon is well, and what it measures, over HTTP on loopback."""
