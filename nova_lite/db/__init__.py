"""Databases. `api` is the one all cells share, `cell` is one per cell and cell0.

Query functions live by noun and take a connection first, so that a caller
decides what is one transaction: `database.write(function, ...)`.
"""
