"""From a configuration to a daemon: which manager, on which bus, with which clients.

A module for each that imports much that the others do not need.
"""
