"""Hypervisors as the compute daemon sees them: a protocol and its implementations.

`driver` is the protocol, `model` the data that crosses it, `sim` the simulated hosts;
`drivers` makes the one that the configuration names.
"""
