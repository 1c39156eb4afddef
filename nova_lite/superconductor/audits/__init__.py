"""Periodic audits of the super-conductor, one module for each."""
