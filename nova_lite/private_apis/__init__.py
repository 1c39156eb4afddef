"""Uses of undocumented names of libraries: one module for each library.

A release of a library may change these names without notice. So each module declares its names
when it is imported. If the library lacks one of them, or is not of a tested version, nova_lite does
without: see `guard.Library.is_used` and the page "Public doors" of the documents. A class that
overrides a library's private method is elsewhere, and the method is declared here;
`tools/checks/private.py` refuses all other uses outside this package.
"""
