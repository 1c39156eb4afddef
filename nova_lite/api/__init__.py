"""The compute API: one registry of operations, one dispatch, one table of errors.

An operation is declared in one place (`operation.py`), usually one file per
operation under the resource's package, and everything else follows from that.
"""
