"""Measure the speed and the CPU time of a running cloud through its API."""
