"""Revisions of the databases of cells and of cell0."""
