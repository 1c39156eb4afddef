"""Emptying hosts: what drain-host, undrain and evacuate-host are made of.

They are clients of the compute API; no module here knows a database.
"""
