"""Revisions of the schemas: one line for the API database, one for cells.

A revision is additive, and stays as it is: databases exist that were made by it. A change of
the models comes with a further revision, and the tests compare what all of them make with the
models.
"""
