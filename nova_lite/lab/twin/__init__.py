"""Twins: models of real clouds, read through their APIs, on which operators try what they plan.

`importing` writes the file of a twin, which `nova-lite up -f` starts. `model` decides on a copy of
a running cloud, with the real scheduler and placement, without moving a server.
"""
