"""Errors of drivers that say that a database has no space left."""

import sqlite3

# MariaDB: disk full, and full by its own limits. PostgreSQL: disk full.
_MARIADB = (1021, 1114)
_POSTGRESQL = '53100'


def is_full(error: BaseException) -> bool:
    """Return whether a driver's error says so."""
    extended: int | None = getattr(error, 'sqlite_errorcode', None)
    if extended is not None:
        # The shared index of the log is a file as well, and SQLite has its own code for that.
        return extended & 0xFF == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE
    if getattr(error, 'sqlstate', None) == _POSTGRESQL:
        return True
    return bool(error.args) and error.args[0] in _MARIADB
