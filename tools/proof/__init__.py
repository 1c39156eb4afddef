"""Which operations of Nova the API offers, and which of them unmodified clients have used.

The data is in doc/source/reference; the page of the coverage and the README are made
from it or held to it.
"""
