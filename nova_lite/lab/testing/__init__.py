"""Support for tests of clients: clouds, projects with clean-up, and both for test runners.

`pytest_plugin` is for pytest, `fixture` for testtools and stestr. Both use `clouds` and
`projects`. Daemons and commands import nothing from here.
"""
