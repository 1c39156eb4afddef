"""Horizon beside a cloud: its installation from PyPI, and its process."""
