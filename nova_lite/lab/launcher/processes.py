"""A cloud with a process for each daemon, over RabbitMQ. This process serves its live page."""

from collections.abc import Callable
from collections.abc import Sequence
import contextlib
import functools
import os
import typing
from wsgiref import types as wsgi

from oslo_config import cfg
import requests

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.conf import placement_server
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import proxy
from nova_lite.daemons.wsgi import server
from nova_lite.lab.control import abilities
from nova_lite.lab.control import breakpoints
from nova_lite.lab.control import daemons
from nova_lite.lab.control import endpoint
from nova_lite.lab.control import injected_faults as fault_control
from nova_lite.lab.control import process_debugger
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import fault_places
from nova_lite.lab.launcher import lacking
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import live_page
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import process_faults
from nova_lite.lab.launcher import relays
from nova_lite.lab.launcher import setup
from nova_lite.lab.launcher import supervisor
from nova_lite.lab.testclock import control as clock_control

ANSWER_S = 60
LOOK_S = 0.05
# Each viewer of the live page holds a thread.
PAGE_THREADS = 12
NEIGHBOUR_THREADS = 32
CLOCK = (
    'The daemons of a cloud with --bus are processes, which read the clocks of their machines. Run it in '
    'a cloud in one process, such as one of `nova-lite up --name drills`'
)
LACKING = (
    'A cloud with --bus has no common clock or saved states: its daemons are processes. '
    '`nova-lite up` without --bus has them'
)


# The daemons that read their configuration again at SIGHUP.
RELOADING = ('conductor.', 'compute.', 'scheduler.', 'super-conductor.')
# Functions from a configuration to the number of processes of a service.
WORKERS: dict[str, Callable[[cfg.ConfigOpts], int]] = {
    'simcloud': lambda conf: conf.simcloud.workers,
    'placement': placement_server.workers,
}
# The reverse order in which daemons stop: first those that pass work on, last those that all need.
STAGES = ('neighbour', 'conductor', 'compute', 'scheduler', 'super-conductor', 'api')


Progress: typing.TypeAlias = Callable[[str], None]


def _read(config: str) -> cfg.ConfigOpts:
    return conf_module.make_conf(files=[config])


def unable(found: process_faults.ProcessFaults) -> dict[str, str]:
    """Return {ability: why a cloud of processes lacks it}. found: the faults of the cloud"""
    return {abilities.CLOCK: CLOCK, **found.unable()}


def _clock() -> endpoint.Json:
    """Return the clock of the machine, as testclock.control.Control.show."""
    now = runtime.now().isoformat(timespec='milliseconds')
    return {'now': now, 'ahead_s': 0.0, 'frozen': False, 'rate': 1}


class ProcessCloud:
    """A cloud like EmbeddedCloud, but each daemon is a separate, supervised process.

    children: {KIND.NAME: Child}
    """

    # The daemons read the clock of the machine.
    clock: clock_control.Control | None = None

    def __init__(
        self, settings: layout.Settings, *, launch: supervisor.Launch = supervisor.launch
    ) -> None:
        self.places = layout.Layout(settings)
        self.urls: dict[str, str] = {}
        self.confs: dict[str, cfg.ConfigOpts] = {}
        self.health_urls: dict[str, str] = {}
        self.supervisor = supervisor.Supervisor(launch)
        self._relays = relays.Relays(self.places)
        find_cells = functools.partial(fault_places.of, self.places)
        self.faults = process_faults.ProcessFaults(self.places, find_cells, self._relays.found)
        self._page = live_page.LivePage(self.places, proxy.Proxy(self.url), self.faults.show)
        self._page_server: server.InProcess | None = None
        self._servers: list[server.InProcess] = []
        self._control: endpoint.Endpoint | None = None
        self._debugger: process_debugger.ProcessDebugger | None = None

    @property
    def url(self) -> str:
        return self.places.public_url

    @property
    def children(self) -> dict[str, supervisor.Child]:
        return {child.name: child for child in self.supervisor.children}

    def start(
        self,
        *,
        fresh: bool = False,
        progress: Progress = lambda text: None,
        fill: Callable[[], None] | None = None,
    ) -> None:
        """Start all daemons. A daemon that needs another waits by itself.

        progress: called with a line of text for each part
        fill: function that creates the first objects of a new cloud, through its APIs
        """
        places = self.places
        places.prepare(fresh=fresh)
        is_new = not os.path.exists(places.clouds_path)
        self._wait_for_brokers(progress)
        self.faults.inject(())
        if places.settings.drills:
            self._relays.open(conf_module.make_conf(files=[]))
        progress('databases')
        self._create_databases(fresh, progress)
        self._start_neighbours()
        setup.databases(places)
        progress('identity, image, network and volume services, placement')
        control = self._write('control', daemon_config.control(places, self.urls))
        self.confs['control'] = _read(control)
        setup.mappings(places, self.confs['control'])
        self._wait_for(f'{self.urls["simcloud"]}/identity/v3', 'simcloud.top')
        self._wait_for(f'{self.urls["placement"]}/placement/', 'placement.top')
        progress('cells')
        for cell in places.cell_names:
            self._start_cell(cell)
        progress('scheduler, super-conductor, metadata service and compute API')
        self._child('scheduler', 'top', 'scheduler', control)
        module = 'debugged_conductor' if places.settings.drills else 'conductor'
        self._child('super-conductor', 'top', module, control)
        self._start_metadata()
        api = self._write('api', self._api_sections())
        self._child('api', 'top', 'api', api, workers=_read(api).api.workers)
        self._wait_for(f'{self.url}/compute/', 'api.top')
        progress('hosts')
        setup.hosts(places, self.confs['control'])
        places.write_health(self.health_urls)
        self._start_page()
        self._open_control()
        if fill is not None and is_new:
            fill()
        client_config.write(places)

    def reload(self) -> list[str]:
        """Make the daemons read their configuration, and the files that it names, again.

        Return no errors, which the daemons log.
        """
        for child in self.supervisor.children:
            if child.name.startswith(RELOADING):
                child.reload()
        return []

    def stop(self) -> None:
        """Stop all daemons. Work in progress continues at the next start."""
        close_page = self._page.end()
        if self._control is not None:
            self._control.close()
        if self._debugger is not None:
            self._debugger.close()
            self._debugger = None
        # Daemons need their buses to stop.
        self.faults.heal()
        if self._page_server is not None:
            self._page_server.stop()
            self._page_server = None
        close_page()
        self.supervisor.stop()
        while self._servers:
            self._servers.pop().stop()
        try:
            if self.places.relayed:
                self._end_relays()
        finally:
            # The database may be away.
            self.places.release()

    def _end_relays(self) -> None:
        """Close the relays, and record the URLs of the servers for commands."""
        self._relays.close()
        if 'control' in self.confs:
            self._write('control', daemon_config.control(self.places, self.urls))
            setup.mappings(self.places, self.confs['control'])

    # ---- parts ----

    def _wait_for_brokers(self, progress: Progress) -> None:
        conf = conf_module.make_conf(files=[])
        options = self.places.settings.options.get('oslo_messaging_rabbit')
        found: list[lacking.Lacking] = []
        for name in (layout.TOP, *self.places.cell_names):
            url = self.places.bus_url(name)
            try:
                preflight.wait_for_broker(url, conf, ANSWER_S, progress, options=options)
            except lacking.Lacking as error:
                found.append(error)
        if found:
            # The database server may reject the cloud as well.
            with contextlib.suppress(exception.Unavailable):
                found += self._lacking_database()
            raise lacking.together(found)

    def _lacking_database(self) -> list[lacking.Lacking]:
        """Return the error of a database server that rejects the cloud, if it does."""
        url = self.places.settings.database
        if url is None:
            return []
        try:
            with database_servers.connected(url):
                return []
        except lacking.Lacking as error:
            return [error]

    def _create_databases(self, fresh: bool, progress: Progress) -> None:
        deadline = runtime.monotonic() + ANSWER_S
        said = False
        while True:
            try:
                setup.create_databases(self.places, fresh=fresh)
                return
            except exception.Unavailable as error:
                if runtime.monotonic() > deadline:
                    raise
                if not said:
                    progress(f'waiting: {error}')
                said = True
            runtime.sleep(1)

    def _write(self, name: str, sections: daemon_config.Sections) -> str:
        return self.places.write_config(name, sections)

    def _child(
        self, kind: str, name: str, module: str, config: str, *, workers: int = 1
    ) -> supervisor.Child:
        stage = STAGES.index(kind) if kind in STAGES else 0
        return self.supervisor.add(
            supervisor.Child(
                f'{kind}.{name}',
                f'nova_lite.cmd.{module}',
                config,
                self._monitored(f'{kind}.{name}', workers),
                places=self.places,
                stage=stage,
            )
        )

    def _monitored(self, name: str, workers: int) -> str:
        """Write a configuration file with a health port for each process. Return its path."""
        port = server.free_port(count=workers)
        for number in range(workers):
            unit = f'{name}.{number + 1}' if number else name
            self.health_urls[unit] = f'http://127.0.0.1:{port + number}'
        return self.places.write_config(f'health-{name}', {'health': {'port': port}}, alone=True)

    def _start_cell(self, cell: str) -> None:
        config = daemon_config.cell_conductor(self.places, self.urls, cell)
        self._child('conductor', cell, 'conductor', self._write(f'conductor-{cell}', config))
        computes: dict[str, Sequence[str]] = {cell: ()}
        if self.places.settings.process_per_host:
            computes = {host: (host,) for host in self.places.hosts(cell)}
        for name, hosts in computes.items():
            config = daemon_config.compute(self.places, self.urls, cell, hosts)
            self._child('compute', name, 'compute', self._write(f'compute-{name}', config))

    def _start_neighbours(self) -> None:
        places = self.places
        ports = {name: server.free_port() for name in ('simcloud', 'placement')}
        self.urls |= {name: f'http://127.0.0.1:{port}' for name, port in ports.items()}
        for name in ports:
            make = {'simcloud': daemon_config.simcloud, 'placement': daemon_config.placement}[name]
            config = self._write(name, make(places, self.urls, ports[name]))
            self._child(name, 'top', name, config, workers=WORKERS[name](_read(config)))
        if places.settings.drills:
            self._put_faults_before_neighbours()

    def _put_faults_before_neighbours(self) -> None:
        """Pass the requests to the services through this process, which can fail them."""
        requests = self.faults.requests
        simcloud = requests.around(proxy.Proxy(self.urls['simcloud']))
        placement = requests.around(proxy.Proxy(self.urls['placement']), request_faults.PLACEMENT)
        applications: dict[str, wsgi.WSGIApplication] = {
            'simcloud': simcloud,
            'placement': front.Front({'/placement': placement}),
        }
        for name, application in applications.items():
            running = server.InProcess(application, threads=NEIGHBOUR_THREADS)
            running.start()
            self._servers.append(running)
            self.urls[name] = running.url

    def _start_metadata(self) -> None:
        port = server.free_port()
        self.urls['metadata'] = f'http://127.0.0.1:{port}'
        sections = daemon_config.metadata(self.places, port)
        self._child('metadata', 'top', 'metadata', self._write('metadata', sections))

    def _start_page(self) -> None:
        """Serve the live page on a separate port: the API has the port of the cloud."""
        if self.places.has_page:
            self._page.renew(self.confs['control'])
            self._page_server = server.InProcess(
                self._page.application, host=self.places.settings.listen, threads=PAGE_THREADS
            )
            self._page_server.start()
            self.places.page_origin = self._page_server.url

    def _open_control(self) -> None:
        control = endpoint.Endpoint(self.places.root, lacking=LACKING, unable=unable(self.faults))
        fault_control.add(control, self.faults)
        daemons.add(control, self.supervisor, self._show_daemons)
        control.add('GET', 'problem', lambda _arguments: {'problem': None})
        # Drills ask for it: it cannot be changed here.
        control.add('GET', 'clock', lambda _arguments: _clock())
        if self.places.settings.drills:
            self._debugger = process_debugger.ProcessDebugger(self.confs['control'])
            breakpoints.add(control, self._debugger)
        else:
            breakpoints.refuse(control, process_faults.DRILLS % abilities.DEBUGGER)
        self._page.open_lab(control)
        control.open()
        self._control = control

    def _show_daemons(self) -> list[endpoint.Json]:
        return [
            {
                'name': child.name,
                'state': child.state,
                'pid': child.process.pid if child.state == supervisor.RUNNING else None,
                'starts': child.starts,
            }
            for child in self.supervisor.children
        ]

    def _api_sections(self) -> daemon_config.Sections:
        sections = daemon_config.control(self.places, self.urls)
        proxies = dict.fromkeys(
            ('/identity', '/image', '/network', '/volume', '/share'), self.urls['simcloud']
        )
        proxies |= {f'/{name}': self.urls[name] for name in ('placement', 'metadata')}
        sections['api']['proxies'] = [f'{prefix}:{url}' for prefix, url in proxies.items()]
        return sections

    def _wait_for(self, url: str, name: str) -> None:
        deadline = runtime.monotonic() + ANSWER_S
        while True:
            try:
                if requests.get(url, timeout=5).status_code < 500:
                    return
            except (requests.ConnectionError, requests.Timeout):
                pass
            if runtime.monotonic() > deadline:
                raise exception.Unavailable(
                    service=url,
                    reason=f'no answer in {ANSWER_S} s; see {self.children[name].log_path}',
                )
            runtime.sleep(LOOK_S)
