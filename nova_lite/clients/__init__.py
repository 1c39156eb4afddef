"""Clients of placement and of the neighbour services, over their public REST APIs.

`session` knows who calls, how failures are retried and what they are called
here; the other modules know one service each and return plain values.
"""
