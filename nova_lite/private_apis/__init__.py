"""Uses of what libraries do not document: one module for each library.

A release of a library may change these without notice. So each module declares what it
needs when it is imported, and a library that lacks some of it is refused by its name and
version. An override of a library's private method stays in the class that overrides it, and
is declared here; `tools/checks/private.py` refuses all other uses outside this package.
"""
