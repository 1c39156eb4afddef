"""Undocumented names of gunicorn that we use; wsgi.worker overrides it."""

import typing

from gunicorn.http import unreader
from gunicorn.workers import gthread

from nova_lite.private_apis import guard

LIBRARY = guard.Library('gunicorn', lowest='27.0.1', newest='27.0.1')

with LIBRARY.declared():
    LIBRARY.takes(gthread.ThreadWorker, '_cap_keepalive', 'deadline')
    LIBRARY.takes(gthread.ThreadWorker, 'enqueue_req', 'conn')
    LIBRARY.takes(gthread.ThreadWorker, 'finish_request', 'conn', 'fs')
    LIBRARY.takes(gthread.ThreadWorker, 'on_pending_socket_readable', 'conn', 'client')
    LIBRARY.keeps(gthread.ThreadWorker, 'pending_conns', 'poller', 'nr_conns')
    LIBRARY.takes(gthread.ThreadWorker, 'handle', 'conn')
    LIBRARY.takes(gthread.ThreadWorker, 'handle_request', 'req', 'conn')
    LIBRARY.keeps(unreader.Unreader, 'buf')
    LIBRARY.has(unreader.Unreader, 'take_buffered')

    EVENT_READ = gthread.selectors.EVENT_READ


def has_more(conn: typing.Any) -> bool:
    """Return whether bytes of the next request of a connection were read with the last one."""
    return bool(conn.parser.unreader.buf.getvalue())
