"""Uses of undocumented names of libraries: one module for each library.

A release of a library may change these names without notice. So each module declares its names
when it is imported, and refuses a library without one of them by its name and version. A class that
overrides a library's private method is elsewhere, and the method is declared here;
`tools/checks/private.py` refuses all other uses outside this package.
"""
