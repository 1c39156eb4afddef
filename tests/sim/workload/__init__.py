"""Clients of the simulated cloud, and what they were told."""
