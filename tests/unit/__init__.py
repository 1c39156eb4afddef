"""Tests of single parts of the package, without servers."""

import gc

# Rows, statements and requests are made by the thousand and soon forgotten: looking for
# cycles less often takes a twentieth of the tests' CPU time away.
gc.set_threshold(20000, 20, 20)
