"""A whole cloud in this process: every daemon, its buses in memory, SQLite files.

The same managers, RPC interfaces and sagas as with a process per daemon; only
the URLs differ.
"""

import contextlib
import functools
import os

from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.daemons import api
from nova_lite.daemons import compute
from nova_lite.daemons import conductor
from nova_lite.daemons import exposure
from nova_lite.daemons import metadata
from nova_lite.daemons import monitor
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.daemons.monitoring import app as monitoring
from nova_lite.db.cell import services
from nova_lite.lab import memory_broker
from nova_lite.lab.control import breakpoints
from nova_lite.lab.control import clock
from nova_lite.lab.control import debugger
from nova_lite.lab.control import endpoint
from nova_lite.lab.control import faults
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
from nova_lite.lab.launcher import stand_ins
from nova_lite.lab.launcher import state_control
from nova_lite.rpc import transport
from nova_lite.wsgi import front
from nova_lite.wsgi import server

LOG = log.getLogger(__name__)
SIMULATED = ('/identity', '/image', '/network', '/volume', '/share')

# A super-conductor that takes over what the first one was made to lose.
SECOND, SECOND_HOST = 'super-conductor-2', '{}-2'
# Daemons that pass work on stop before those that do it.
STOPPING = ('super-conductor', 'scheduler', 'compute', 'conductor')
# A reset waits so long for transactions and requests that have begun. Later ones fail.
EFFECTS_S = 2.0
# A state is saved once the hosts have reported after a start.
REPORTED_S, LOOK_S = 60.0, 0.01


class ResetFailed(exception.Unavailable):
    msg = (
        'The cloud serves no requests: its reset to state %(name)s failed: %(cause)s. '
        'Repeat `nova-lite reset`, perhaps to another state, or restart the cloud with '
        '`nova-lite stop` and `nova-lite up`.'
    )


class EmbeddedCloud:
    """Start, stop and look into a cloud that lives in this process.

    places: its Layout; daemons: {name: service.Daemon}; confs: {name: ConfigOpts}
    faults, debugger, snapshots: its control.faults.Faults, Debugger and Snapshots
    clock: testclock.control.Control of this process, None if its clock cannot be changed
    wrap_api: function from the compute API, a WSGI callable, to the one that is served
    """

    def __init__(self, settings):
        self.places = layout.Layout(settings)
        self.urls = {}
        self.daemons = {}
        self.confs = {}
        self._watched = {}
        self._front = front.Front({}, keep=SIMULATED)
        self._gate = gate.Gate(self._front)
        self._fronts = []
        self.api_app = self._api = self._metadata = None
        self.wrap_api = lambda application: application
        self._endpoints = []
        self.clock = None
        self.snapshots = cloud_snapshots.Snapshots(self.places)
        self.incarnation = incarnation.Incarnation()
        self._ended = ended.Ended()
        self._changing = runtime.Lock()
        self.faults = faults.Faults(
            functools.partial(fault_places.of, self.places),
            self._drivers,
            lambda: self.incarnation,
        )
        self._stand_ins = stand_ins.StandIns(self.places, self.faults.requests)
        self.debugger = debugger.Debugger(self._start_second)
        self._page = live_page.LivePage(self.places, self._gate, self.faults.show)

    @property
    def url(self):
        return self.places.public_url

    @property
    def problem(self):
        """Why all requests are refused, None while they are not."""
        return self._gate.problem

    def start(self, *, fresh=False, keep=False, progress=lambda text: None, fill=None):
        """Start everything, in the order in which one needs the other.

        keep: save the state of a new cloud as `fresh`, before anybody can use it
        fill: function that creates the first objects of a new cloud, through its APIs
        """
        memory_broker.install()
        self.places.prepare(fresh=fresh)
        # Written last: a cloud whose first start did not end is new.
        is_new = not os.path.exists(self.places.clouds_path)
        progress('databases')
        setup.databases(self.places, fresh=fresh)
        self.snapshots.finish()
        progress('identity, image, network and volume services')
        self._stand_ins.start()
        self.urls |= self._stand_ins.urls
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
        # That of a cloud from a snapshot is there.
        keep = keep and is_new and cloud_snapshots.FRESH not in self.snapshots.names()
        if keep and self.places.settings.database is None:
            self.snapshot(self.snapshots.path(cloud_snapshots.FRESH))
        client_config.write(self.places)
        with open(self._pid_path, 'w') as file:
            file.write(f'{os.getpid()}\n')

    def start_daemon(self, name, make, conf_name=None):
        """Start one daemon (again); make: a function of `wiring`."""
        with incarnation.within(self.incarnation):
            daemon = make(self.confs[conf_name or name])
            daemon.start()
        self.daemons[name] = self._watched[name] = daemon
        return daemon

    def stop_daemon(self, name):
        """Stop one daemon."""
        self.daemons.pop(name).stop()

    def reset(self, name=cloud_snapshots.FRESH):
        """Return to a saved state. Raise as `Snapshots.restoring`: nothing has changed then.

        Requests wait meanwhile. What was in progress ends as if its daemon had been killed.
        After another error they are refused, until a reset succeeds.
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

    def snapshot(self, path):
        """Write a snapshot; return its Manifest. The cloud goes on. Raise NotWritten, NotQuiet."""
        self.snapshots.require_files()
        with self._changing:
            if self.problem is not None:
                raise exception.Unavailable(service='The cloud', reason=self.problem)
            self.wait_reported()
            return self.snapshots.take(path)

    def wait_ended(self):
        """Wait until the daemons from before the resets have stopped."""
        self._ended.wait()

    def wait_reported(self):
        """Wait until the inventories of all hosts are in placement, and so in what is saved."""
        deadline = runtime.monotonic() + REPORTED_S
        with contextlib.ExitStack() as after:
            while any(manager.is_coming_up for manager in self._computes()):
                # Time that stands still would never end the wait.
                if self.clock is not None and self.clock.is_frozen:
                    self.clock.resume()
                    after.callback(self.clock.freeze)
                if runtime.monotonic() > deadline:
                    raise exception.Unavailable(
                        service='The cloud',
                        reason=f'its hosts have not reported within {REPORTED_S:g} s',
                    )
                runtime.sleep(LOOK_S)

    def _renew(self, change):
        """End all daemons, call `change()`, and start them again."""
        # What is in progress takes time to end.
        resumed = contextlib.nullcontext() if self.clock is None else self.clock.resumed()
        with resumed, self.faults.healed(), contextlib.ExitStack() as last:
            with self._gate.closed():
                last.callback(self._ended.add, self._end())
                change()
                self.incarnation = self.incarnation.next()
                self._stand_ins.renew()
                self._start_daemons(reported=True)
                self._make_apis()

    def _end(self):
        """End the incarnation; return what stops its parts, as `ended.Ended.add` takes it."""
        close_page = self._page.end()  # Or viewers would see the incarnation end.
        if not self.incarnation.end(EFFECTS_S):
            LOG.warning('Work in progress did not end within %s s. It will fail.', EFFECTS_S)
        self.debugger.detach()
        self._watched.pop(SECOND, None)
        daemons, self.daemons = self.daemons, {}
        stops = [
            [daemon.stop for name, daemon in daemons.items() if name.startswith(kind)]
            for kind in STOPPING
        ]
        urls = [self.places.bus_url(name) for name in (layout.TOP, *self.places.cell_names)]
        buses = [transport.embedded_name(url, self.incarnation) for url in urls]
        drop = functools.partial(memory_broker.drop, buses)
        return [*stops, [close_page, *self._take_apis(), self._stand_ins.end().close], [drop]]

    def _take_apis(self):
        """Return the functions that close the API and the metadata service."""
        served = [each for each in (self._api, self._metadata) if each is not None]
        self._api = self._metadata = None
        return [each.close for each in served]

    def reload(self):
        """Read the files that the configuration names again; return messages of what is refused."""
        errors = {}
        with self._changing:
            for name, daemon in self.daemons.items():
                self.confs.get(name, self.confs['control']).reload_config_files()
                # Daemons read the same files.
                errors |= dict.fromkeys(map(str, daemon.reload()))
        LOG.info('The configuration was read again')
        return list(errors)

    def _drivers(self):
        return [manager.site.driver for manager in self._computes()]

    def _computes(self):
        """Return the managers of the compute processes."""
        return [
            daemon.manager for name, daemon in self.daemons.items() if name.startswith('compute-')
        ]

    def stop(self):
        """Stop everything, newest first. Work in progress continues at the next start."""
        self._undo_control()
        # Open pages would keep threads of the server.
        close_page = self._page.end()
        endpoints = [opened.close for opened in self._endpoints]
        ended.together([*endpoints, *(running.stop for running in self._fronts)])
        self._endpoints, self._fronts = [], []
        # Again what the last request may have done.
        self._undo_control()
        for close in (close_page, *self._take_apis()):
            close()
        for kind in STOPPING:
            names = [name for name in self.daemons if name.startswith(kind)]
            ended.together(functools.partial(self.stop_daemon, name) for name in names)
        self._ended.wait()
        self._stand_ins.stop()
        if os.path.exists(self._pid_path):
            os.unlink(self._pid_path)
        memory_broker.forget(self.places.tag)
        self.places.release()

    def _undo_control(self):
        """Give daemons the time and the buses that they need to stop."""
        if self.clock is not None:
            self.clock.resume()
        self.faults.heal()

    # ---- parts ----

    @property
    def _pid_path(self):
        return self.places.path('run', 'all.embedded.pid')

    def _configure(self):
        places, urls = self.places, self.urls
        sections = {
            'control': daemon_config.control(places, urls),
            'metadata': daemon_config.metadata(places),
        }
        for cell in places.cell_names:
            sections[f'conductor-{cell}'] = daemon_config.cell_conductor(places, urls, cell)
            sections[f'compute-{cell}'] = daemon_config.compute(places, urls, cell)
        for name, values in sections.items():
            path = places.write_config(name, values)
            self.confs[name] = conf_module.make_conf(files=[path])

    def _open_endpoints(self):
        control = endpoint.Endpoint(self.places.root)
        if self.clock is not None:
            clock.add(control, self.clock)
        state_control.register(control, self)
        fault_control.add(control, self.faults)
        breakpoints.add(control, self.debugger)
        self._page.open_lab(control)
        for opened in (events_endpoint.EventsEndpoint(self.places.root), control):
            opened.open()
            self._endpoints.append(opened)

    def _start_daemons(self, progress=lambda text: None, *, reported=False):
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

    def _make_super_conductor(self, conf):
        daemon = super_conductor.make(conf)
        self.debugger.attach(daemon.manager)
        return daemon

    def _forget_second(self):
        """Remove the record of a second super-conductor, which is not started again."""
        database = self.daemons['super-conductor'].manager.world.cells.cell0.db
        host = SECOND_HOST.format(self.confs['control'].host)
        row = database.read(services.find, host, services.CONDUCTOR)
        if row is not None:
            database.write(services.destroy, row.uuid)

    def _start_second(self):
        """Start a second super-conductor, unless there is one. A reset or stop ends it."""
        with self._changing:
            if SECOND not in self.daemons:
                conf = conf_module.make_conf(files=[self.places.path('etc', 'control.conf')])
                conf.set_override('host', SECOND_HOST.format(conf.host))
                self.confs[SECOND] = conf
                self.start_daemon(SECOND, self._make_super_conductor)

    def _make_apis(self):
        with incarnation.within(self.incarnation):
            self._api = api.make(self.confs['control'], alone=False)
            self._metadata = metadata.Metadata(self.confs['metadata'])
            self._page.renew(self.confs['control'])
        self.api_app = self._api.app
        self._watched['api'] = api.watched(self.api_app)
        self._watched['metadata'] = self._metadata
        self._front.routes |= {
            '/compute': self.wrap_api(self._api),
            '/metadata': self._metadata,
        }

    def _start_monitoring(self):
        running = server.InProcess(
            monitoring.Monitoring(self._watched.values()), threads=monitor.THREADS
        )
        running.start()
        self._fronts.append(running)
        self.places.write_health({'all': running.url})

    def _start_front(self):
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
