"""Revisions of the schemas: one line for the API database, one for cells.

A revision is additive and stays as it was released. Until the first release
there is one for each database, which `python -m tools.schema` writes anew from
the models; afterwards a change of the models comes with a further revision,
written by hand, and the tests compare what all of them make with the models.
"""
