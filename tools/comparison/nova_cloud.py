"""A cloud of nova's daemons from PyPI, over a private RabbitMQ and MariaDB or PostgreSQL."""

from collections.abc import Mapping
from collections.abc import Sequence
import os
import pathlib
import shutil
import sys

import fixtures
import requests
import yaml

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.launcher import client_connections
from tests.fixtures import ports
from tests.fixtures import postgresql
from tests.fixtures import processes
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import private_cloud
from tools.comparison import nova_config

START_S = 180
# The database of a program of ours.
SIMCLOUD = 'simcloud'
DATABASES = ('api', 'cell0', 'placement', SIMCLOUD)
FLAVORS = {'m1.tiny': (512, 1, 1), 'm1.small': (2048, 1, 20)}


class NovaCloud(fixtures.Fixture):
    """The cloud, with `state_dir` as `nova-lite up` makes it: clouds.yaml, run/*.pid.

    environment: a virtual environment with nova; cells: their names
    hosts: number of hosts in each cell; notifications: whether the daemons send notifications
    options: of all daemons of nova; database: fixture of the database server
    """

    def __init__(
        self,
        environment: str,
        cells: Sequence[str],
        hosts: int,
        *,
        notifications: bool,
        options: nova_config.Sections | None = None,
        database: type[private_cloud.Durable] | type[postgresql.PostgreSQL] = private_cloud.Durable,
    ) -> None:
        super().__init__()
        self._options, self._database = options or {}, database
        self._environment = os.path.abspath(environment)
        self._cells, self._hosts, self._notifications = cells, hosts, notifications

    def _setUp(self) -> None:
        self.broker, self.database = rabbit.Rabbit('top', *self._cells), self._database()
        servers.use_all(self, self.broker, self.database)
        self.state_dir = self.useFixture(fixtures.TempDir()).path
        self._run = pathlib.Path(self.state_dir, 'run')
        self._run.mkdir()
        for server in (self.broker, self.database):
            (self._run / f'{server.name}.private.pid').write_text(f'{server.daemon.pid}\n')
        self._api_port, self._placement_port, simcloud_port = (
            self.useFixture(ports.Port()).number for _each in range(3)
        )
        self._passwords = {
            f'{name}_password': runtime.new_secret() for name in ('admin', 'demo', 'service')
        }
        self._places = nova_config.Places(
            root=self.state_dir,
            buses={name: self.broker.vhost_url(name) for name in ('top', *self._cells)},
            databases={name: self._create_database(name) for name in (*DATABASES, *self._cells)},
            simcloud=f'http://127.0.0.1:{simcloud_port}',
            placement=f'http://127.0.0.1:{self._placement_port}',
            password=self._passwords['service_password'],
            notifications=self._notifications,
            options=self._options,
        )
        self._start()

    def _create_database(self, name: str) -> str:
        """Create a database. Return its URL for the drivers of the programs that use it."""
        url: str = self.database.create_database(name)
        return url if name == SIMCLOUD else url.replace('+psycopg:', '+psycopg2:')

    def _start(self) -> None:
        self._write('policy.yaml', yaml.safe_dump(nova_config.POLICY))
        self._start_neighbours()
        control = self._make_databases()
        for cell in self._cells:
            self._start_cell(cell)
        scheduler = self._program('scheduler.top', 'nova-scheduler', control)
        self._program('super-conductor.top', 'nova-conductor', control)
        self._serve(
            'api.top',
            'nova.wsgi.osapi_compute',
            self._api_port,
            {'OS_NOVA_CONFIG_DIR': os.path.dirname(control)},
        )
        self._write_clouds()
        cloud = client.Client(self.state_dir)
        scheduler.wait_for(lambda: self._all_up(cloud), START_S, 'shows all computes up')
        self._manage(control, 'cell_v2', 'discover_hosts')
        for name, (ram, vcpus, disk) in FLAVORS.items():
            flavor = {'name': name, 'ram': ram, 'vcpus': vcpus, 'disk': disk}
            cloud.call('POST', '/flavors', {'flavor': flavor})

    # ---- parts ----

    def _start_neighbours(self) -> None:
        places = self._places
        config = self._write('simcloud.conf', nova_config.simcloud(places, self._passwords))
        simcloud = self._daemon(
            'simcloud.top',
            [sys.executable, '-m', 'nova_lite.cmd.simcloud', '--config-file', config],
        )
        _wait_for(simcloud, f'{places.simcloud}/identity/v3')
        config = self._write('placement/placement.conf', nova_config.placement(places))
        self._manage(config, 'db', 'sync', program='placement-manage')
        self._serve(
            'placement.top',
            'placement.wsgi.api',
            self._placement_port,
            {'OS_PLACEMENT_CONFIG_DIR': os.path.dirname(config)},
        )

    def _make_databases(self) -> str:
        """Fill the databases and map the cells. Return the path of the top's nova.conf."""
        databases, buses = self._places.databases, self._places.buses
        control = self._write('api/nova.conf', nova_config.control(self._places))
        # The WSGI module looks for api-paste.ini beside nova.conf.
        shutil.copy(
            os.path.join(self._environment, 'etc', 'nova', 'api-paste.ini'),
            os.path.dirname(control),
        )
        self._manage(control, 'api_db', 'sync')
        self._manage(control, 'cell_v2', 'map_cell0', '--database_connection', databases['cell0'])
        self._manage(control, 'db', 'sync', '--local_cell')
        for cell in self._cells:
            config = self._write(f'{cell}.conf', nova_config.cell_conductor(self._places, cell))
            self._manage(config, 'db', 'sync', '--local_cell')
            self._manage(
                *(control, 'cell_v2', 'create_cell', '--name', cell),
                *('--database_connection', databases[cell], '--transport-url', buses[cell]),
            )
        return control

    def _start_cell(self, cell: str) -> None:
        self._program(f'conductor.{cell}', 'nova-conductor', self._path(f'{cell}.conf'))
        for number in range(self._hosts):
            host = f'{cell}-host{number + 1}'
            config = self._write(f'{host}.conf', nova_config.compute(self._places, cell, host))
            self._program(f'compute.{host}', 'nova-compute', config)

    def _all_up(self, cloud: client.Client) -> bool:
        found = cloud.call('GET', '/os-services?binary=nova-compute')['services']
        up = [service for service in found if service['state'] == 'up']
        return len(up) == len(self._cells) * self._hosts

    def _write_clouds(self) -> None:
        clouds = {
            client_connections.ADMIN: self._cloud_of('admin'),
            client_connections.DEMO: self._cloud_of('demo'),
        }
        with open(os.path.join(self.state_dir, 'clouds.yaml'), 'w') as file:
            yaml.safe_dump({'clouds': clouds}, file)

    def _cloud_of(self, user: str) -> dict[str, object]:
        auth = {
            'auth_url': f'{self._places.simcloud}/identity/v3',
            'username': user,
            'password': self._passwords[f'{user}_password'],
            'project_name': user,
            'user_domain_id': 'default',
            'project_domain_id': 'default',
        }
        return {
            'auth': auth,
            'region_name': 'RegionOne',
            'identity_api_version': '3',
            'compute_endpoint_override': f'http://127.0.0.1:{self._api_port}/v2.1',
            'image_endpoint_override': f'{self._places.simcloud}/image',
        }

    # ---- programs ----

    def _path(self, name: str) -> str:
        return os.path.join(self.state_dir, 'etc', name)

    def _write(self, name: str, content: str | nova_config.Sections) -> str:
        """Write a configuration file from a text or sections. Return its path."""
        path = pathlib.Path(self._path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else nova_config.text(content))
        return str(path)

    def _manage(self, config: str, *args: str, program: str = 'nova-manage') -> None:
        path = os.path.join(self._environment, 'bin', program)
        processes.run(path, '--config-file', config, *args)

    def _program(self, name: str, program: str, config: str) -> processes.Daemon:
        command = [os.path.join(self._environment, 'bin', program), '--config-file', config]
        return self._daemon(name, command)

    def _serve(self, name: str, module: str, port: int, environment: Mapping[str, str]) -> None:
        daemon = self._daemon(name, nova_config.uwsgi(self._environment, module, port), environment)
        _wait_for(daemon, f'http://127.0.0.1:{port}/')

    def _daemon(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> processes.Daemon:
        daemon = self.useFixture(
            processes.Daemon(command, name=name, env=environment, directory=str(self._run))
        )
        daemon.start()
        return daemon


def _wait_for(daemon: processes.Daemon, url: str) -> None:
    """Wait until a daemon answers at a URL, with any status."""

    def answers() -> bool:
        try:
            requests.get(url, timeout=10)
        except requests.RequestException:
            return False
        return True

    daemon.wait_for(answers, START_S, f'answers at {url}')
