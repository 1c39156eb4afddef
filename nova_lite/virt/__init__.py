"""The interface of hypervisors for the compute daemon, and its implementations.

`driver` is the protocol, `model` the data that crosses it, `sim` the simulated hosts;
`drivers` makes the one that the configuration names.
"""
