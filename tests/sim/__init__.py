"""The deterministic simulation: whole clouds in one process on a virtual clock.

Run it with `python -m tests.sim`. Nothing may be imported here: the kernel replaces the
primitives of the standard library before any other module is loaded.
"""
