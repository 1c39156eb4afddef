"""Library of the commands drain-host, undrain and evacuate-host.

They are clients of the compute API and do not use databases.
"""
