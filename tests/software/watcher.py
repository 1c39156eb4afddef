"""Watcher's API, decision engine and applier as processes, with the Prometheus that they ask.

They need a bus on which the cloud sends its notifications, a database, and a Prometheus that reads
the metrics of the cloud's hosts. All run with the files of doc/source/howto/watcher.rst, but on
other ports and with other passwords.
"""

import json
import pathlib
import urllib.parse

import fixtures
import requests
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import cloud_state
from tests.fixtures import howto
from tests.fixtures import mariadb
from tests.fixtures import ports
from tests.fixtures import processes
from tests.fixtures import servers
from tests.software import settings

PAGE = howto.PAGES / 'watcher'
# Of Prometheus, and the hosts and the address in it.
DOCUMENTED = howto.PAGES.parent / 'admin' / 'prometheus.yml'
TARGETS, ADDRESS = '[cell1-host1, cell1-host2]', '127.0.0.1:9101'
READY_S, STOP_S = 120, 30
SCRAPE_S = 1
PROMETHEUS, QUERY = 'prometheus', '/api/v1/query'
DAEMONS = ('watcher-decision-engine', 'watcher-applier')
DAEMON_READY = 'Leader election completed'
# Of the API's settings: the names that it has in the documents.
CONFIGURATION, API_ADDRESS = 'watcher.conf', '127.0.0.1:9322'
SERVICE = 'infra-optim'


def up(bus):
    """Return arguments of `nova-lite up` for small hosts, whose cloud notifies a bus."""
    return (
        *('--set', 'oslo_messaging_notifications.driver=messagingv2'),
        *('--set', f'oslo_messaging_notifications.transport_url={bus}'),
        *('--profile', str(PAGE / 'hosts.yaml')),
    )


class Watcher(fixtures.Fixture):
    """Its daemons run when this is set up. found: settings of the cases, which get the
    URL of queries of Prometheus, and the path of documented commands.
    """

    def __init__(self, installed, found, bus):
        super().__init__()
        self._installed, self._found, self._bus = installed, found, bus

    def _setUp(self):
        database = mariadb.MariaDB()
        self.useFixture(database)
        prometheus = self._start_prometheus()
        self._found |= {
            'metrics': f'http://127.0.0.1:{prometheus}{QUERY}',
            'commands': str(PAGE / 'audit.sh'),
        }
        port = self.useFixture(ports.Port()).number
        _make_endpoint(self._found, f'http://127.0.0.1:{port}')
        sections = settings.documented(PAGE / 'watcher.conf')
        for name in ('watcher_clients_auth', 'keystone_authtoken'):
            sections[name] |= settings.login(self._found['admin'])
        sections['keystone_authtoken']['www_authenticate_uri'] = self._found['admin']['auth_url']
        sections['DEFAULT']['transport_url'] = self._bus
        sections['database']['connection'] = database.create_database('watcher')
        sections['prometheus_client']['port'] = prometheus
        settings.configure(self._found, sections)
        configured = ('--config-file', self._found['configuration'])
        processes.run(self._installed.path('watcher-db-manage'), *configured, 'upgrade')
        daemons = [self._start(name, self._installed.path(name), *configured) for name in DAEMONS]
        api = self._start_api(port)
        api.wait_for(lambda: ports.listening(port), READY_S, 'listens')
        for daemon in daemons:
            daemon.wait_for_log(DAEMON_READY, READY_S)

    def _start_api(self, port):
        path = pathlib.Path(self._found['directory'], 'watcher-api.py')
        text = (PAGE / path.name).read_text().replace(API_ADDRESS, f'127.0.0.1:{port}')
        path.write_text(text.replace(CONFIGURATION, self._found['configuration']))
        return self._start(
            'watcher-api',
            self._installed.path('gunicorn'),
            '--no-control-socket',
            f'--config={path}',
            'watcher.wsgi.api:application',
        )

    def _start(self, name, *command):
        directory = self._found['directory']
        # What the log says is about this start.
        pathlib.Path(directory, f'{name}.log').unlink(missing_ok=True)
        daemon = processes.Daemon(command, name=name, directory=directory)
        self.useFixture(daemon)
        daemon.start()
        self.addCleanup(daemon.stop, STOP_S)
        return daemon

    def _start_prometheus(self):
        """Start a Prometheus that reads the exporters of all hosts; return its port."""
        servers.require_programs(PROMETHEUS)
        port = self.useFixture(ports.Port()).number
        directory = pathlib.Path(self._found['directory'])
        path = directory / 'prometheus.yml'
        configuration = _scraped(self._found)
        path.write_text(yaml.safe_dump(configuration))
        daemon = self._start(
            PROMETHEUS,
            servers.find_program(PROMETHEUS),
            f'--config.file={path}',
            f'--storage.tsdb.path={self.useFixture(fixtures.TempDir()).path}',
            f'--web.listen-address=127.0.0.1:{port}',
        )
        targets = len(configuration['scrape_configs']) * len(self._found['hosts'])
        daemon.wait_for(lambda: _scrapes(port) == targets, READY_S, 'reads all hosts')
        return port


def _scrapes(port):
    """Return the number of targets that a Prometheus has read at its last attempt."""
    if not ports.listening(port):
        return 0
    url = f'http://127.0.0.1:{port}{QUERY}'
    answer = requests.get(url, {'query': 'count(up == 1)'}, timeout=10)
    found = answer.json()['data']['result'] if answer.ok else ()
    return int(found[0]['value'][1]) if found else 0


def _scraped(found):
    """Return the configuration of Prometheus: the exporters of all hosts of the cloud."""
    url = cloud_state.read(found['state_dir'])['metrics_urls']['all']
    text = DOCUMENTED.read_text().replace(ADDRESS, urllib.parse.urlsplit(url).netloc)
    configuration = yaml.safe_load(text.replace(TARGETS, json.dumps(found['hosts'])))
    interval = f'{SCRAPE_S}s'
    return {**configuration, 'global': {'scrape_interval': interval, 'scrape_timeout': interval}}


def _make_endpoint(found, url):
    """Put Watcher's API into the catalog of the cloud."""
    identity = client_connections.connect(f'{found["state_dir"]}/clouds.yaml').identity
    service = identity.create_service(name='watcher', type=SERVICE)
    region = next(identity.regions())
    identity.create_endpoint(
        service_id=service.id, interface='public', region_id=region.id, url=url
    )
