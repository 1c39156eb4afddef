"""The pages of metrics of simulated hosts, without a server."""

from prometheus_client import parser

from nova_lite.daemons.monitoring import app
from nova_lite.daemons.monitoring import exporters


class Daemon:
    """A daemon with the hosts of a driver."""

    name, checks, collectors = 'compute', {}, ()

    def __init__(self, driver):
        self.exporters = {node: exporters.Exporters(driver, node) for node in driver.list_nodes()}


class Pages:
    """The health endpoint of a daemon with the hosts of a driver."""

    def __init__(self, driver):
        self._application = app.Monitoring([Daemon(driver)])

    def get(self, page, query):
        """Return (status, body) of a request."""
        found = []
        environ = {'PATH_INFO': page, 'REQUEST_METHOD': 'GET', 'QUERY_STRING': query}
        (body,) = self._application(environ, lambda status, headers: found.append(status))
        return found[0], body

    def samples(self, page, host):
        """Return the samples of a page. Raises AssertionError if the status is not 200."""
        status, body = self.get(page, f'host={host}')
        assert status == '200 OK', status
        families = parser.text_string_to_metric_families(body.decode())
        return [sample for family in families for sample in family.samples]
