"""Databases: `api` is shared by all cells, `cell` is that of one cell or of cell0.

Query functions live by noun and take a connection first, so that a caller
decides what is one transaction: `database.write(function, ...)`.
"""
