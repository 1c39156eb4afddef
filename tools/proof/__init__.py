"""Operations of Nova that the API offers, and those used by unmodified clients.

The data is in doc/source/reference; the page of the coverage and the README are made
from it or held to it.
"""
