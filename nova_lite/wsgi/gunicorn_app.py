"""A WSGI application as gunicorn runs it."""

import fcntl
import tempfile

from gunicorn.app import base


class Application(base.BaseApplication):
    """gunicorn with threads; `load_application` makes the application in each worker.

    One worker does so after the other: it may create tables that the next one expects to be
    complete.
    """

    def __init__(self, load_application, options):
        self._load, self._options = in_turn(load_application), options
        super().__init__()

    def load_config(self):
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self):
        return self._load()


def in_turn(function):
    """Return the function, which of several processes that are forked later one calls at a time."""
    # A lock of the file belongs to a process, and ends with it.
    file = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the service

    def call():
        fcntl.lockf(file, fcntl.LOCK_EX)
        try:
            return function()
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN)

    return call
