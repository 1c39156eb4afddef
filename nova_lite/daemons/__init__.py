"""Create daemons from their configuration: one module for each kind, with only its imports.

Beside them what all processes of daemons share: `process`, `monitor`, `guru_meditation`, `leash`.
"""
