"""Serve Horizon, or build its styles and scripts: python serve.py [build]

The interpreter of the environment of Horizon runs this. See nova_lite_horizon for its settings.
"""

import contextlib
import json
import os
import signal
import sys

os.environ['DJANGO_SETTINGS_MODULE'] = 'nova_lite_horizon'

import django
from django.conf import settings
from django.contrib.staticfiles import handlers
from django.core import management
from django.core import wsgi
from django.core.servers import basehttp
from django.views import static

# The variable with the descriptor of the leash, see nova_lite.daemons.leash.
LEASH = 'NOVA_LITE_LEASH'


class Files(handlers.StaticFilesHandler):  # type: ignore[misc] # Django has no types
    """Serves the built files, and passes on all other requests."""

    def serve(self, request: django.http.HttpRequest) -> django.http.HttpResponse:
        """Return the answer with a file. Raise Http404."""
        name = self.file_path(request.path)
        return static.serve(request, name, document_root=settings.STATIC_ROOT)


class Server(basehttp.WSGIServer):  # type: ignore[misc] # Django has no types
    """Ends when its supervisor, which holds the other end of the leash, has ended."""

    def service_actions(self) -> None:
        """Look at the leash, about twice a second."""
        with contextlib.suppress(BlockingIOError):
            os.read(int(os.environ[LEASH]), 1)
            os.kill(os.getpid(), signal.SIGTERM)


def build() -> None:
    """Write the styles and scripts to STATIC_ROOT."""
    management.call_command('collectstatic', interactive=False, verbosity=0)
    management.call_command('compress', force=True, verbosity=0)


def main() -> None:
    """Serve until a signal."""
    django.setup()
    if sys.argv[1:] == ['build']:
        build()
        return
    os.set_blocking(int(os.environ[LEASH]), False)
    given = json.loads(os.environ['NOVA_LITE_HORIZON'])
    basehttp.run(
        '127.0.0.1',
        given['port'],
        Files(wsgi.get_wsgi_application()),
        threading=True,
        server_cls=Server,
    )


if __name__ == '__main__':
    main()
