"""Revisions of the schemas: one line for the API database, one for cells.

A revision only adds, and is never changed, because databases exist that it has created. A change of
the models needs a further revision. Tests compare the result of all revisions with the models.
"""
