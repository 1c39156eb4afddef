"""The compute API: one registry of operations, one dispatch, one table of errors.

Each operation has one declaration (`operation.py`), usually in a module of its own. Routes, checks
and documentation are made from the declarations.
"""
