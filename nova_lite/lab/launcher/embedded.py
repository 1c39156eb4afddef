"""A whole cloud in this process: all daemons, buses in memory, SQLite files.

The managers, RPC interfaces and sagas are those of daemons in separate processes; only the URLs
differ.
"""

from collections.abc import Callable
from collections.abc import Sequence
import contextlib
import functools
import os
import typing
from wsgiref import types as wsgi

from oslo_config import cfg
from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.compute import manager as compute_manager
from nova_lite.daemons import api
from nova_lite.daemons import compute
from nova_lite.daemons import conductor
from nova_lite.daemons import exposure
from nova_lite.daemons import lifetime
from nova_lite.daemons import local_endpoint
from nova_lite.daemons import metadata
from nova_lite.daemons import monitor
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.daemons.monitoring import app as monitoring
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import server
from nova_lite.db.cell import services
from nova_lite.lab import memory_broker
from nova_lite.lab.control import breakpoints
from nova_lite.lab.control import clock
from nova_lite.lab.control import daemons
from nova_lite.lab.control import debugger
from nova_lite.lab.control import embedded_faults
from nova_lite.lab.control import endpoint
from nova_lite.lab.control import injected_faults as fault_control
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import ended
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.launcher import fault_places
from nova_lite.lab.launcher import gate
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import live_page
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import setup
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import stand_ins
from nova_lite.lab.launcher import state_control
from nova_lite.lab.testclock import control as clock_control
from nova_lite.rpc import transport
from nova_lite.superconductor import manager as super_module
from nova_lite.virt import driver as virt_driver

LOG = log.getLogger(__name__)
SIMULATED = ('/identity', '/image', '/network', '/volume', '/share')

# The super-conductor that takes over the sagas that the first one must lose.
SECOND, SECOND_HOST = 'super-conductor-2', '{}-2'
# The order in which daemons stop: those that pass work on stop first.
STOPPING = ('super-conductor', 'scheduler', 'compute', 'conductor')
# The longest time for which a reset waits for transactions and requests in progress.
EFFECTS_S = 2.0
# A state is saved once the hosts have reported after a start, at most after REPORTED_S.
REPORTED_S, LOOK_S = 60.0, 0.01

Progress: typing.TypeAlias = Callable[[str], None]
# A function that creates a daemon from its configuration.
Make: typing.TypeAlias = Callable[[cfg.ConfigOpts], lifetime.Daemon[object]]
M = typing.TypeVar('M')


class ResetFailed(exception.Unavailable):
    msg = (
        'The cloud serves no requests: its reset to state %(name)s failed: %(cause)s. '
        'Repeat `nova-lite reset`, perhaps to another state, or restart the cloud with '
        '`nova-lite stop` and `nova-lite up`.'
    )


class EmbeddedCloud:
    """A cloud that lives in this process.

    keep: save the state of a new cloud as `fresh`, before users can reach the cloud
    daemons: {name: daemon}; confs: {name: configuration}
    clock: changes the clock of this process; None if the clock cannot be changed
    wrap_api: function from the compute API to the application that is served instead
    """

    def __init__(self, settings: layout.Settings, *, keep: bool = False) -> None:
        self.places = layout.Layout(settings)
        self.urls: dict[str, str] = {}
        self.daemons: dict[str, lifetime.Daemon[object]] = {}
        self.confs: dict[str, cfg.ConfigOpts] = {}
        self.keep = keep
        self._watched: dict[str, monitoring.Daemon] = {}
        self._front = front.Front({}, keep=SIMULATED)
        self._gate = gate.Gate(self._front)
        self._fronts: list[server.InProcess] = []
        self._api: monitoring.Balanced | None = None
        self._metadata: metadata.Metadata | None = None
        self.wrap_api: Callable[[wsgi.WSGIApplication], wsgi.WSGIApplication] = lambda app: app
        self._endpoints: list[local_endpoint.LocalEndpoint] = []
        self.clock: clock_control.Control | None = None
        self.snapshots = cloud_snapshots.Snapshots(self.places)
        self.incarnation = incarnation.Incarnation()
        self.ended = ended.EndedIncarnations()
        self._changing = runtime.Lock()
        find_cells = functools.partial(fault_places.of, self.places)
        self.faults = embedded_faults.Embedded(find_cells, self._drivers, lambda: self.incarnation)
        self._stand_ins = stand_ins.StandIns(self.places, self.faults.requests)
        self.debugger = debugger.Debugger(self._start_second)
        self._page = live_page.LivePage(self.places, self._gate, self.faults.show)

    @property
    def url(self) -> str:
        return self.places.public_url

    @property
    def problem(self) -> str | None:
        """Return why the cloud refuses all requests, or None."""
        return self._gate.problem

    def start(
        self,
        *,
        fresh: bool = False,
        progress: Progress = lambda text: None,
        fill: Callable[[], None] | None = None,
    ) -> None:
        """Start all daemons, in the order of their dependencies.

        fresh: delete a former cloud first
        fill: function that creates the first objects of a new cloud, through its APIs
        """
        memory_broker.install()
        self.places.prepare(fresh=fresh)
        # clouds.yaml is written last: a cloud whose first start did not end is new.
        is_new = not os.path.exists(self.places.clouds_path)
        progress('databases')
        setup.databases(self.places, fresh=fresh)
        self.snapshots.finish()
        progress('identity, image, network and volume services')
        self._stand_ins.start()
        self.urls |= self._stand_ins.urls | self._page.open_consoles()
        self._configure()
        auth = {self.places.settings.auth, self.confs['control'].api.auth_strategy}
        listen = self.places.settings.listen
        self._gate.application = exposure.protected(self._front, auth, listen)
        setup.mappings(self.places, self.confs['control'])
        self._start_daemons(progress)
        progress('hosts')
        setup.hosts(self.places, self.confs['control'])
        progress('compute API')
        self._make_apis()
        self._start_front()
        self._start_monitoring()
        self._open_endpoints()
        if fill is not None and is_new:
            fill()
        # A cloud from a snapshot already has the state.
        keep = self.keep and is_new and cloud_snapshots.FRESH not in self.snapshots.names()
        if keep and self.places.settings.database is None:
            self.snapshot(self.snapshots.path(cloud_snapshots.FRESH))
        client_config.write(self.places)
        with open(self._pid_path, 'w') as file:
            file.write(f'{os.getpid()}\n')

    def start_daemon(self, name: str, make: Make, conf_name: str | None = None) -> None:
        """Start one daemon, also again. conf_name: name of its configuration, if not `name`"""
        with incarnation.within(self.incarnation):
            daemon = make(self.confs[conf_name or name])
            daemon.start()
        self.daemons[name] = self._watched[name] = daemon

    def stop_daemon(self, name: str) -> None:
        """Stop one daemon."""
        self.daemons.pop(name).stop()

    def reset(self, name: str = cloud_snapshots.FRESH) -> None:
        """Restore a saved state. Raise as `Snapshots.restoring`, before any change.

        Requests wait for the end of the reset. Work in progress ends as if its daemon was killed.
        After any other error, all requests are refused until a reset succeeds.
        """
        with self._changing, self.snapshots.restoring(name) as restore:
            try:
                self._renew(restore)
            except BaseException as error:
                cause = str(error).rstrip('.') or type(error).__name__
                problem = str(ResetFailed(name=name, cause=cause))
                LOG.error('%s', problem)
                self._gate.refuse(problem)
                raise

    def snapshot(self, path: str) -> snapshot_file.Manifest:
        """Write a snapshot of the cloud. Return its manifest. Raise NotWritten, NotQuiet."""
        self.snapshots.require_files()
        with self._changing:
            if self.problem is not None:
                raise exception.Unavailable(service='The cloud', reason=self.problem)
            self.wait_reported()
            return self.snapshots.take(path)

    def wait_reported(self) -> None:
        """Wait until all hosts have reported their inventories, which a snapshot must contain."""
        deadline = runtime.monotonic() + REPORTED_S
        with contextlib.ExitStack() as after:
            while any(each.is_coming_up for each in self.managers(compute_manager.ComputeManager)):
                # With a frozen clock the wait would never end.
                if self.clock is not None and self.clock.is_frozen:
                    self.clock.resume()
                    after.callback(self.clock.freeze)
                if runtime.monotonic() > deadline:
                    raise exception.Unavailable(
                        service='The cloud',
                        reason=f'its hosts have not reported within {REPORTED_S:g} s',
                    )
                runtime.sleep(LOOK_S)

    def _renew(self, change: Callable[[], None]) -> None:
        """End all daemons, call `change()`, and start the daemons again."""
        # Work in progress needs time to end.
        resumed = contextlib.nullcontext() if self.clock is None else self.clock.resumed()
        with resumed, self.faults.healed(), contextlib.ExitStack() as last:
            with self._gate.closed():
                last.callback(self.ended.add, self._end())
                change()
                self.incarnation = self.incarnation.next()
                self._stand_ins.renew()
                self._start_daemons(reported=True)
                self._make_apis()

    def _end(self) -> list[Sequence[ended.Call]]:
        """End the incarnation. Return the functions that stop its parts, as `ended` takes them."""
        close_page = self._page.end()  # Viewers must not see the end of the incarnation.
        if not self.incarnation.end(EFFECTS_S):
            LOG.warning('Work in progress did not end within %s s. It will fail.', EFFECTS_S)
        self.debugger.detach()
        self._watched.pop(SECOND, None)
        daemons, self.daemons = self.daemons, {}
        stops: list[Sequence[ended.Call]] = [
            [daemon.stop for name, daemon in daemons.items() if name.startswith(kind)]
            for kind in STOPPING
        ]
        urls = [self.places.bus_url(name) for name in (layout.TOP, *self.places.cell_names)]
        buses = [transport.embedded_name(url, self.incarnation) for url in urls]
        drop = functools.partial(memory_broker.drop, buses)
        return [*stops, [close_page, *self._take_apis(), self._stand_ins.end().close], [drop]]

    def _take_apis(self) -> list[ended.Call]:
        """Return the functions that close the API and the metadata service."""
        served = [each for each in (self._api, self._metadata) if each is not None]
        self._api = self._metadata = None
        return [each.close for each in served]

    def reload(self) -> list[str]:
        """Read the files that the configuration names again. Return messages of errors."""
        errors: dict[str, None] = {}
        with self._changing:
            for name, daemon in self.daemons.items():
                self.confs.get(name, self.confs['control']).reload_config_files()
                # Daemons read the same files.
                errors |= dict.fromkeys(map(str, daemon.reload()))
        LOG.info('The configuration was read again')
        return list(errors)

    def _drivers(self) -> list[virt_driver.Driver]:
        return [each.site.driver for each in self.managers(compute_manager.ComputeManager)]

    def managers(self, kind: type[M]) -> list[M]:
        """Return the managers of a class, of all daemons."""
        return [each.manager for each in self.daemons.values() if isinstance(each.manager, kind)]

    def stop(self) -> None:
        """Stop all daemons. Work in progress continues at the next start."""
        self._undo_control()
        # Open pages would keep threads of the server.
        close_page = self._page.close()
        endpoints = [opened.close for opened in self._endpoints]
        ended.together([*endpoints, *(running.stop for running in self._fronts)])
        self._endpoints, self._fronts = [], []
        self._undo_control()  # Of the last requests, too.
        for close in (close_page, *self._take_apis()):
            close()
        for kind in STOPPING:
            names = [name for name in self.daemons if name.startswith(kind)]
            ended.together(functools.partial(self.stop_daemon, name) for name in names)
        self.ended.wait()
        self._stand_ins.stop()
        if os.path.exists(self._pid_path):
            os.unlink(self._pid_path)
        memory_broker.forget(self.places.tag)
        self.places.release()

    def _undo_control(self) -> None:
        """Resume the clock and heal the buses, which daemons need to stop."""
        if self.clock is not None:
            self.clock.resume()
        self.faults.heal()

    # ---- parts ----

    @property
    def _pid_path(self) -> str:
        return self.places.path('run', 'all.embedded.pid')

    def _configure(self) -> None:
        for name, sections in daemon_config.embedded(self.places, self.urls).items():
            path = self.places.write_config(name, sections)
            self.confs[name] = conf_module.make_conf(files=[path])

    def _open_endpoints(self) -> None:
        control = endpoint.Endpoint(self.places.root)
        if self.clock is not None:
            clock.add(control, self.clock)
        state_control.register(
            control, self.snapshots, take=self.snapshot, restore=self.reset, gate=self._gate
        )
        fault_control.add(control, self.faults)
        breakpoints.add(control, self.debugger)
        self._page.open_lab(control)
        daemons.refuse(control)
        for opened in (events_endpoint.EventsEndpoint(self.places.root), control):
            opened.open()
            self._endpoints.append(opened)

    def _start_daemons(
        self, progress: Progress = lambda text: None, *, reported: bool = False
    ) -> None:
        make_compute = functools.partial(compute.make, reported=reported)
        progress('cells')
        for cell in self.places.cell_names:
            self.start_daemon(f'conductor-{cell}', conductor.make)
        for cell in self.places.cell_names:
            self.start_daemon(f'compute-{cell}', make_compute)
        progress('scheduler and super-conductor')
        self.start_daemon('scheduler', scheduler.make, 'control')
        self.start_daemon('super-conductor', self._make_super_conductor, 'control')
        self._forget_second()

    def _make_super_conductor(self, conf: cfg.ConfigOpts) -> lifetime.Daemon[object]:
        daemon = super_conductor.make(conf)
        self.debugger.attach(daemon.manager)
        return daemon

    def _forget_second(self) -> None:
        """Delete the service record of a second super-conductor, which is not started again."""
        database = self.managers(super_module.SuperConductor)[0].world.cells.cell0.db
        host = SECOND_HOST.format(self.confs['control'].host)
        row = database.read(services.find, host, services.CONDUCTOR)
        if row is not None:
            database.write(services.destroy, row.uuid)

    def _start_second(self) -> None:
        """Start a second super-conductor, unless it runs. A reset or a stop ends it."""
        with self._changing:
            if SECOND not in self.daemons:
                conf = conf_module.make_conf(files=[self.places.path('etc', 'control.conf')])
                conf.set_override('host', SECOND_HOST.format(conf.host))
                self.confs[SECOND] = conf
                self.start_daemon(SECOND, self._make_super_conductor)

    def _make_apis(self) -> None:
        with incarnation.within(self.incarnation):
            self._api = api.make(self.confs['control'], alone=False)
            self._metadata = metadata.Metadata(self.confs['metadata'])
            self._page.renew(self.confs['control'])
        self._watched['api'] = api.watched(self._api.app)
        self._watched['metadata'] = self._metadata
        self._front.routes |= {'/compute': self.wrap_api(self._api), '/metadata': self._metadata}

    def _start_monitoring(self) -> None:
        pages = monitoring.Monitoring(self._watched.values())
        running = server.InProcess(pages, threads=monitor.THREADS)
        running.start()
        self._fronts.append(running)
        self.places.write_health({'all': running.url})

    def _start_front(self) -> None:
        settings = self.places.settings
        self._front.routes['/placement'] = self._stand_ins.serve_placement
        self._front.routes |= dict.fromkeys(SIMULATED, self._stand_ins.serve_simcloud)
        running = server.InProcess(
            self._page.application, host=settings.listen, port=settings.port, threads=24
        )
        try:
            running.start()
        except OSError as error:
            raise preflight.port_in_use(settings, error) from error
        self._fronts.append(running)
