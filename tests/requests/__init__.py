"""Drawn bodies for every operation of the compute API."""
