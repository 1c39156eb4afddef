"""GET /healthcheck and GET /metrics of one daemon, or of several in one process."""

import http
import json

import prometheus_client

from nova_lite.monitoring import health

JSON = 'application/json'


class Monitoring:
    """The WSGI application.

    daemons: the daemons of this process, looked at anew for each request; each has a
        name, checks and collectors, see service.Daemon.watch
    """

    def __init__(self, daemons):
        self._daemons = daemons
        self._healths = {}
        self._pages = {'/healthcheck': self._healthcheck, '/metrics': self._metrics}

    def __call__(self, environ, start_response):
        page = self._pages.get(environ.get('PATH_INFO', '').rstrip('/'))
        if page is None:
            status, kind, body = http.HTTPStatus.NOT_FOUND, JSON, {'pages': sorted(self._pages)}
        elif environ['REQUEST_METHOD'] not in ('GET', 'HEAD'):
            status, kind, body = http.HTTPStatus.METHOD_NOT_ALLOWED, JSON, {'allowed': ['GET']}
        else:
            status, kind, body = page()
        data = body if isinstance(body, bytes) else json.dumps(body, indent=2).encode() + b'\n'
        start_response(
            f'{status.value} {status.phrase}',
            [('Content-Type', kind), ('Content-Length', str(len(data)))],
        )
        return [b'' if environ['REQUEST_METHOD'] == 'HEAD' else data]

    def _healthcheck(self):
        reports = [self._health(daemon).report() for daemon in list(self._daemons)]
        healthy = all(well for well, _report in reports)
        status = http.HTTPStatus.OK if healthy else http.HTTPStatus.SERVICE_UNAVAILABLE
        daemons = [report for _well, report in reports]
        return status, JSON, {'healthy': healthy, 'daemons': daemons}

    def _health(self, daemon):
        known, found = self._healths.get(daemon.name, (None, None))
        if known is not daemon:
            found = health.Health(daemon.name, daemon.checks)
            self._healths[daemon.name] = (daemon, found)
        return found

    def _metrics(self):
        registry = prometheus_client.CollectorRegistry()
        for daemon in list(self._daemons):
            for collector in daemon.collectors:
                registry.register(collector)
        text = prometheus_client.generate_latest(prometheus_client.REGISTRY)
        text += prometheus_client.generate_latest(registry)
        return http.HTTPStatus.OK, prometheus_client.CONTENT_TYPE_PLAIN_0_0_4, text
