"""The interface of hypervisors for the compute daemon, and its implementations.

`driver` is the protocol, `model` its data, `sim` the simulated hosts; `drivers` creates the driver
that the configuration names.
"""
