"""Clients of the services next to ours, by their public REST APIs alone.

`session` knows who calls, how failures are retried and what they are called
here; the other modules know one service each and return plain values.
"""
