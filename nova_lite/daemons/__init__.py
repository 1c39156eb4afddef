"""Create daemons from their configuration: one module for each kind, with only its imports.

All processes of daemons share the modules `process`, `monitor`, `guru_meditation` and `leash`.
"""
