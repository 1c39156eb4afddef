"""GET /healthcheck and GET /metrics of one daemon, or of several in one process.

GET /libvirt?host=HOST, /ceilometer and /node have the metrics of a simulated host, as exporters on
it would have them.
Also GET /healthcheck of an API on its own port, for load balancers.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import http
import json
import typing
import urllib.parse

import prometheus_client

from nova_lite.daemons.monitoring import exporters
from nova_lite.daemons.monitoring import health

JSON = 'application/json'
HEALTHCHECK = '/healthcheck'

Environ: typing.TypeAlias = dict[str, typing.Any]
Start: typing.TypeAlias = Callable[..., typing.Any]
Query: typing.TypeAlias = Mapping[str, list[str]]
Page: typing.TypeAlias = tuple[http.HTTPStatus, str, typing.Any]


class Daemon(typing.Protocol):
    """A daemon, with its health checks and collectors of metrics."""

    @property
    def name(self) -> str: ...

    @property
    def checks(self) -> Mapping[str, health.Check]: ...

    @property
    def collectors(self) -> Iterable[typing.Any]: ...

    @property
    def exporters(self) -> Mapping[str, exporters.Exporters]: ...


class Monitoring:
    """The WSGI application.

    daemons: the daemons of this process, read for each request; each has a name, checks and
        collectors, see lifetime.Daemon.watch
    """

    def __init__(self, daemons: Collection[Daemon]) -> None:
        self._daemons = daemons
        self._healths: dict[str, tuple[Daemon, health.Health]] = {}
        self._pages: dict[str, Callable[[Query], Page]] = {
            HEALTHCHECK: self._healthcheck,
            '/metrics': self._metrics,
            **{page: functools.partial(self._of_host, page) for page in exporters.PAGES},
        }

    def __call__(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        page = self._pages.get(environ.get('PATH_INFO', '').rstrip('/'))
        body: typing.Any
        if page is None:
            status, kind, body = http.HTTPStatus.NOT_FOUND, JSON, {'pages': sorted(self._pages)}
        elif environ['REQUEST_METHOD'] not in ('GET', 'HEAD'):
            status, kind, body = http.HTTPStatus.METHOD_NOT_ALLOWED, JSON, {'allowed': ['GET']}
        else:
            status, kind, body = page(urllib.parse.parse_qs(environ.get('QUERY_STRING', '')))
        return _answer(environ, start_response, status=status, kind=kind, body=body)

    def _healthcheck(self, _query: Query) -> Page:
        reports = [self._health(daemon).report() for daemon in list(self._daemons)]
        healthy = all(well for well, _report in reports)
        daemons = [report for _well, report in reports]
        return _status(healthy), JSON, {'healthy': healthy, 'daemons': daemons}

    def _health(self, daemon: Daemon) -> health.Health:
        kept = self._healths.get(daemon.name)
        if kept is None or kept[0] is not daemon:
            kept = daemon, health.Health(daemon.name, daemon.checks)
            self._healths[daemon.name] = kept
        return kept[1]

    def _metrics(self, _query: Query) -> Page:
        registry = prometheus_client.CollectorRegistry()
        for daemon in list(self._daemons):
            for collector in daemon.collectors:
                registry.register(collector)
        text = prometheus_client.generate_latest(prometheus_client.REGISTRY)
        text += prometheus_client.generate_latest(registry)
        return http.HTTPStatus.OK, prometheus_client.CONTENT_TYPE_PLAIN_0_0_4, text

    def _of_host(self, page: str, query: Query) -> Page:
        hosts: dict[str, exporters.Exporters] = {}
        for daemon in list(self._daemons):
            hosts |= daemon.exporters
        wanted = query.get('host', [])
        if len(wanted) != 1 or wanted[0] not in hosts:
            return http.HTTPStatus.NOT_FOUND, JSON, {'hosts': sorted(hosts)}
        host = hosts[wanted[0]]
        if not host.is_up():
            return _status(healthy=False), JSON, {'error': f'{wanted[0]} is powered off'}
        registry = prometheus_client.CollectorRegistry(auto_describe=False)
        registry.register(host.collectors[page])
        text = prometheus_client.generate_latest(registry)
        return http.HTTPStatus.OK, prometheus_client.CONTENT_TYPE_PLAIN_0_0_4, text


class Balanced:
    """An API that reports at /healthcheck whether this worker can serve requests.

    The page needs no authentication, so it does not show causes.

    checks: the health checks of the services that all requests need, as of a daemon
    app: the application object of the wrapped application
    closing: functions that `close` calls, in this order
    """

    def __init__(
        self,
        application: typing.Any,
        name: str,
        checks: Mapping[str, health.Check],
        *,
        closing: Iterable[Callable[[], typing.Any]] = (),
    ) -> None:
        self.app = application.app
        self.closing = list(closing)
        self._application = application
        self._health = health.Health(name, checks)

    def __call__(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        asks = environ.get('PATH_INFO') == HEALTHCHECK
        if not asks or environ['REQUEST_METHOD'] not in ('GET', 'HEAD'):
            answer: Iterable[bytes] = self._application(environ, start_response)
            return answer
        healthy, _report = self._health.report()
        return _answer(environ, start_response, status=_status(healthy), body={'healthy': healthy})

    def close(self) -> None:
        """Finish background work, when the process ends."""
        for close in self.closing:
            close()


def _status(healthy: bool) -> http.HTTPStatus:
    return http.HTTPStatus.OK if healthy else http.HTTPStatus.SERVICE_UNAVAILABLE


def _answer(
    environ: Environ,
    start_response: Start,
    *,
    status: http.HTTPStatus,
    body: typing.Any,
    kind: str = JSON,
) -> Iterable[bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body, indent=2).encode() + b'\n'
    start_response(
        f'{status.value} {status.phrase}',
        [('Content-Type', kind), ('Content-Length', str(len(data)))],
    )
    return [b'' if environ['REQUEST_METHOD'] == 'HEAD' else data]
