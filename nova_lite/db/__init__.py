"""Databases: `api` is shared by all cells, `cell` is that of one cell or of cell0.

Each noun has a module of query functions, which take a connection first. So the caller decides
about the transaction: `database.write(function, ...)`.
"""
