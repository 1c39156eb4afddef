"""Clients of placement and of the neighbour services, over their public REST APIs.

`session` has the identity of the caller, the retries and the mapping of errors. Each of the other
modules calls one service and returns plain values.
"""
