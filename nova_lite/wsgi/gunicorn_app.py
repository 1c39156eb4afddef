"""A WSGI application as gunicorn runs it."""

from gunicorn.app import base


class Application(base.BaseApplication):
    """gunicorn with threads; `load_application` makes the application in each worker."""

    def __init__(self, load_application, options):
        self._load, self._options = load_application, options
        super().__init__()

    def load_config(self):
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self):
        return self._load()
