"""Servers: one file per operation, and what these share (view, actions, lists)."""
