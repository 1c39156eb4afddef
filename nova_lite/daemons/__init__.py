"""From a configuration to a daemon, one module for each, which loads only what that daemon runs.

Beside them what all processes of daemons share: `process`, `monitor`, `report`, `leash`.
"""
