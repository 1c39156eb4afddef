"""HTTP servers: cheroot inside our own process, gunicorn for a daemon of its own."""

import collections
from collections.abc import Callable
import contextlib
import errno
import logging
import os
import socket
import sys
import typing
import weakref
from wsgiref import types as wsgi

from cheroot import server as cheroot_server
from cheroot import wsgi as cheroot
from oslo_utils import netutils

from nova_lite import runtime
from nova_lite.daemons.wsgi import heads
from nova_lite.daemons.wsgi import paths
from nova_lite.daemons.wsgi import reception
from nova_lite.daemons.wsgi import slow_clients
from nova_lite.daemons.wsgi import systemd
from nova_lite.daemons.wsgi import thread_pool
from nova_lite.private_apis import cheroot as internals

LOG = logging.getLogger(__name__)

LOOPBACK = '127.0.0.1'
PORTS = (10000, 18000)
# Another port of the same host may be free.
TAKEN = (errno.EADDRINUSE, errno.EACCES)
MOST_CLAIMS = 100
# The key in the environment of a request for the function that cuts its connection.
CUT = 'nova_lite.cut'
# Seconds that a server which stops waits for its threads before it cuts their connections.
END_S, CUT_S = 2, 2.5
# Seconds between two looks for connections that have been idle for too long; between two attempts
# to wake the thread that looks, when a server stops.
EXPIRE_S, WAKE_S = 5, 0.05
# The class of gunicorn's workers, by its path.
WORKER = 'nova_lite.daemons.wsgi.worker.Worker'
# Claims of ports on which callers may not listen yet. The oldest come first.
_claims: collections.deque[contextlib.ExitStack] = collections.deque()


def authority(host: str, port: int) -> str:
    """Return a host and a port as in a URL: IPv6 addresses have brackets."""
    return f'{netutils.escape_ipv6(host)}:{port}'


def free_port(host: str = LOOPBACK, *, count: int = 1) -> int:
    """Return the first of `count` consecutive ports that are free now.

    The ports are not among the last ones that this function returned to a process of this
    machine. They lie below the range from which systems take the ports of outgoing connections: a
    port of that range could be in use before the caller listens on it. Raise OSError for a host
    on which this machine cannot listen.
    """
    while True:
        port = runtime.random().randrange(*PORTS)
        with contextlib.ExitStack() as claims:
            if all(claim(host, number, claims) for number in range(port, port + count)):
                _claims.append(claims.pop_all())
                if len(_claims) > MOST_CLAIMS:
                    _claims.popleft().close()
                return port


def claim(host: str, port: int, claims: contextlib.ExitStack) -> bool:
    """Claim a port until `claims` close. Return whether the port was free and not claimed.

    The claim is an abstract Unix socket: all processes see it, and it ends with its process.
    """
    held = claims.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        held.bind(f'\0nova-lite-port-{port}')
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return _is_free(host, port)


def _is_free(host: str, port: int) -> bool:
    family, kind, _protocol, _name, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind) as probe:
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno not in TAKEN:
                raise
            return False
    return True


class _Gateway(cheroot.Gateway_10):
    """Lets an application cut the connection of its request."""

    def get_environ(self) -> wsgi.WSGIEnvironment:  # type: ignore[override]  # as Gateway_10
        sock = self.req.conn.socket
        environ = super().get_environ()  # type: ignore[no-untyped-call]  # not in its stubs
        return {**environ, CUT: self._cut, slow_clients.SOCKET: sock}

    def _cut(self) -> None:
        # The client may have closed the connection.
        with contextlib.suppress(OSError):
            self.req.conn.socket.shutdown(socket.SHUT_RDWR)

    def write(self, chunk: bytes) -> None:
        super().write(b'' if self.req.method == b'HEAD' else chunk)


class _ReceivedGateway(_Gateway):
    """Answers a request that was received completely, or whose body is too large for that."""

    def respond(self) -> None:
        if self.req.conn.reception.streams:
            # cheroot would read the rest of a body of any size that the application has not read.
            self.req.close_connection = True
        super().respond()


class _Connection(cheroot_server.HTTPConnection):
    """A connection that is closed after its client has read the last answer."""

    reception: reception.Reception

    def communicate(self) -> bool:
        internals.unread(self.rfile, self.reception.take())
        if not super().communicate():  # type: ignore[no-untyped-call]  # not in its stubs
            self.reception.discard()
        return True


class InProcess:
    """Serves one WSGI application on a port of this process.

    Connections are kept alive. With `port` 0 the system selects a free port, see `url`.
    """

    def __init__(
        self,
        application: wsgi.WSGIApplication,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        threads: int = 16,
    ) -> None:
        self._server = cheroot.Server(
            (host, port),
            slow_clients.Bounded(paths.Decoded(application), threads),
            timeout=60,
            request_queue_size=512,
            numthreads=threads,
            server_name='nova-lite',
            shutdown_timeout=END_S,
        )
        self._server.gateway = _Gateway
        self._server.expiration_interval = EXPIRE_S
        if internals.LIBRARY.is_used:
            self._server.requests = thread_pool.Pool(self._server, most=threads)
            self._server.gateway = _ReceivedGateway
            self._server.ConnectionClass = self._connect
            self._server.process_conn = self._receive  # type: ignore[assignment, method-assign]  # documented
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._receptions = reception.Receptions()
        self._thread: runtime.Thread | None = None

    def _connect(self, *args: typing.Any) -> _Connection:
        made = _Connection(*args)
        made.reception = self._receptions.receive(made.socket)
        self._connections.add(made)
        return made

    def _receive(self, connection: _Connection) -> None:
        """Give a connection to a thread if its request has come; otherwise wait for more of it."""
        found = connection.reception.receive(internals.take_read(connection.rfile))
        if found is reception.Found.WHOLE:
            self._server.requests.put(connection)
        elif found is reception.Found.MORE:
            self._server.put_conn(connection)
        else:
            connection.close()

    def start(self) -> None:
        """Listen on the port, and serve in a thread. Raise OSError if the port is in use."""
        self._server.prepare()
        self._thread = runtime.spawn(self._server.serve, name='http')

    @property
    def url(self) -> str:
        host, port = self._server.bind_addr[:2]
        return f'http://{authority(host, port)}'

    def stop(self) -> None:
        """Stop listening and end the connections.

        cheroot waits until clients have read their answers, so that the connection of a client
        that reads nothing is cut after some seconds.
        """
        stopping = runtime.spawn(self._server.stop)
        while self._thread is not None and self._thread.is_alive():
            self._wake()
            self._thread.join(WAKE_S)
        stopping.join(CUT_S)
        if stopping.is_alive():
            for connection in list(self._connections):
                with contextlib.suppress(OSError):
                    connection.socket.shutdown(socket.SHUT_RDWR)
            stopping.join()
        # cheroot's figures of a server refer to the server, which would stay in memory.
        statistics = logging.statistics  # type: ignore[attr-defined]  # added by cheroot
        for name in [name for name, found in statistics.items() if found is self._server.stats]:
            del statistics[name]

    def _wake(self) -> None:
        """Connect to the server, so that its thread stops waiting for connections and ends."""
        with contextlib.suppress(OSError):
            socket.create_connection(self._server.bind_addr[:2], WAKE_S).close()


def serve(
    load_application: Callable[[], wsgi.WSGIApplication],
    *,
    host: str,
    port: int,
    workers: int = 1,
    threads: int = 16,
) -> None:
    """Serve until SIGTERM. load_application: called once in each worker process.

    systemd is notified that the service is ready when a worker has its application. gunicorn
    itself would notify systemd before, and then end if the application cannot be made.
    """
    # A cloud in one process needs no gunicorn.
    from nova_lite.daemons.wsgi import gunicorn_app
    from nova_lite.private_apis import gunicorn

    manager = os.environ.pop('NOTIFY_SOCKET', None)

    def ready(_worker: object) -> None:
        systemd.tell('READY=1', 'STATUS=Ready', address=manager)

    gunicorn_app.Application(
        lambda: slow_clients.Bounded(paths.Decoded(load_application()), threads),
        {
            'post_worker_init': ready,
            'worker_exit': lambda _arbiter, worker: _leave(worker),
            'on_exit': lambda _arbiter: systemd.tell('STOPPING=1', address=manager),
            'bind': authority(host, port),
            'workers': workers,
            'threads': threads,
            'worker_class': WORKER if gunicorn.LIBRARY.is_used else 'gthread',
            'keepalive': 65,
            'limit_request_line': heads.MOST_LINE_BYTES,
            'limit_request_fields': heads.MOST_HEADERS,
            'limit_request_field_size': heads.MOST_BYTES,
            'graceful_timeout': 10,
            'timeout': 120,
            'proc_name': 'nova-lite',
            'errorlog': '-',
            'loglevel': 'warning',
            'control_socket_disable': True,
        },
    ).run()


def _leave(worker: typing.Any) -> None:
    """End the process of a worker of gunicorn, which has answered the requests in progress.

    The interpreter would wait for threads that never end by themselves, such as the threads of
    the health endpoint, until gunicorn kills the process after `graceful_timeout`.
    """
    if worker.pid != os.getpid():
        return  # gunicorn's main process found it dead
    reason = sys.exc_info()[1]
    code = reason.code if isinstance(reason, SystemExit) else 0
    try:
        if worker.booted:
            worker.wsgi.close()
    except Exception:
        LOG.exception('Cannot close the application of worker %s', worker.pid)
        raise
    finally:
        logging.shutdown()
        os._exit(code if isinstance(code, int) else 1)
