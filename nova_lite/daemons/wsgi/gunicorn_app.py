"""A WSGI application as gunicorn runs it."""

from collections.abc import Callable
from collections.abc import Mapping
import fcntl
import tempfile
from wsgiref import types as wsgi

from gunicorn.app import base


class Application(base.BaseApplication):  # type: ignore[misc]  # is not typed
    """gunicorn with threads; `load_application` makes the application in each worker.

    Workers call `load_application` one after the other: it may create tables that the next worker
    expects to be complete.
    """

    def __init__(
        self, load_application: Callable[[], wsgi.WSGIApplication], options: Mapping[str, object]
    ) -> None:
        self._load, self._options = in_turn(load_application), options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> wsgi.WSGIApplication:
        return self._load()


def in_turn(function: Callable[[], wsgi.WSGIApplication]) -> Callable[[], wsgi.WSGIApplication]:
    """Return a function that calls `function` in one process at a time.

    The processes are forked from this one after the call of `in_turn`.
    """
    # A lock of the file belongs to a process, and ends with it.
    file = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the service

    def call() -> wsgi.WSGIApplication:
        fcntl.lockf(file, fcntl.LOCK_EX)
        try:
            return function()
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN)

    return call
