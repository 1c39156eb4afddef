"""From a configuration to a daemon: which manager, on which bus, with which clients.

Split by what they import: `hosts` loads no database, `control` no API.
"""
