"""Monitoring: the health checks and metrics of a daemon, over HTTP on loopback."""
