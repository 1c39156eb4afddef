"""Simulated hosts: a hypervisor whose guests are rows of an SQLite file.

`driver` implements the protocol of `nova_lite.virt.driver`; `profile` has the behaviour of the
hosts; `census` counts guests and `hostpower` cuts a host's power, both without a daemon.
"""
