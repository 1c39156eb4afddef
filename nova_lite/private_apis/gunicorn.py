"""Undocumented names of gunicorn that we use; wsgi.worker overrides it."""

from gunicorn.workers import gthread

from nova_lite.private_apis import guard

LIBRARY = guard.Library('gunicorn', lowest='27.0.1', newest='27.0.1')

LIBRARY.takes(gthread.ThreadWorker, '_cap_keepalive', 'deadline')
LIBRARY.takes(gthread.ThreadWorker, 'handle', 'conn')
LIBRARY.takes(gthread.ThreadWorker, 'handle_request', 'req', 'conn')
