"""A whole cloud in this process: every daemon, its buses in memory, SQLite files.

The same managers, RPC interfaces and sagas as with a process per daemon; only
the URLs differ.
"""

import functools
import os

from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.control import clock
from nova_lite.control import endpoint
from nova_lite.daemons import api
from nova_lite.daemons import compute
from nova_lite.daemons import conductor
from nova_lite.daemons import events_door
from nova_lite.daemons import metadata
from nova_lite.daemons import monitor
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.launcher import daemon_config
from nova_lite.launcher import layout
from nova_lite.launcher import neighbours
from nova_lite.launcher import preflight
from nova_lite.launcher import setup
from nova_lite.monitoring import app as monitoring
from nova_lite.rpc import embedded as embedded_bus
from nova_lite.wsgi import front
from nova_lite.wsgi import server

LOG = log.getLogger(__name__)
SIMULATED = ('/identity', '/image', '/network', '/volume', '/share')

# Work flows downwards: who hands it on stops before who does it.
STOPPING = ('super-conductor', 'scheduler', 'compute', 'conductor')


class EmbeddedCloud:
    """Start, stop and look into a cloud that lives in this process.

    places: its Layout; daemons: {name: service.Daemon}; confs: {name: ConfigOpts}
    clock: testclock.control.Control of this process, None if its clock cannot be changed
    wrap_api: function from the compute API, a WSGI callable, to the one that is served
    """

    def __init__(self, settings):
        self.places = layout.Layout(settings)
        self.urls = {}
        self.daemons = {}
        self.confs = {}
        self._watched = {}
        self._neighbours = neighbours.Neighbours(self.places)
        self._fronts = []
        self.api_app = None
        self.wrap_api = lambda application: application
        self._doors = []
        self._metadata = None
        self.clock = None

    @property
    def url(self):
        return self.places.public_url

    def start(self, *, fresh=False, progress=lambda text: None):
        """Start everything, in the order in which one needs the other."""
        self.places.prepare(fresh=fresh)
        progress('databases')
        setup.databases(self.places, fresh=fresh)
        progress('identity, image, network and volume services')
        self._neighbours.start()
        self.urls |= self._neighbours.urls
        self._configure()
        setup.mappings(self.places, self.confs['control'])
        progress('cells')
        for cell in self.places.cell_names:
            self.start_daemon(f'conductor-{cell}', conductor.make)
        for cell in self.places.cell_names:
            self.start_daemon(f'compute-{cell}', compute.make)
        progress('scheduler and super-conductor')
        self.start_daemon('scheduler', scheduler.make, 'control')
        self.start_daemon('super-conductor', super_conductor.make, 'control')
        progress('hosts')
        setup.hosts(self.places, self.confs['control'])
        progress('compute API')
        self._start_front()
        self._start_monitoring()
        self._open_doors()
        self.places.write_clouds()
        with open(self._pid_path, 'w') as file:
            file.write(f'{os.getpid()}\n')

    def start_daemon(self, name, make, conf_name=None):
        """Start one daemon (again); make: a function of `wiring`."""
        daemon = make(self.confs[conf_name or name])
        daemon.start()
        self.daemons[name] = self._watched[name] = daemon
        return daemon

    def stop_daemon(self, name):
        """Stop one daemon."""
        self.daemons.pop(name).stop()

    def stop(self):
        """Stop everything, newest first. Work in progress continues at the next start."""
        if self.clock is not None:
            # The daemons wait a while for what is under way.
            self.clock.resume()
        doors = [opened.close for opened in self._doors]
        _together([*doors, *(running.stop for running in self._fronts)])
        self._doors.clear()
        self._fronts.clear()
        if self._metadata is not None:
            self._metadata.close()
            self._metadata = None
        for kind in STOPPING:
            names = [name for name in self.daemons if name.startswith(kind)]
            _together(functools.partial(self.stop_daemon, name) for name in names)
        self._neighbours.stop()
        if os.path.exists(self._pid_path):
            os.unlink(self._pid_path)
        embedded_bus.forget(self.places.tag)
        self.places.release()

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

    def _open_doors(self):
        control = endpoint.Endpoint(self.places.root)
        if self.clock is not None:
            clock.add(control, self.clock)
        for opened in (events_door.EventsDoor(self.places.root), control):
            opened.open()
            self._doors.append(opened)

    def _start_monitoring(self):
        self._watched['api'] = api.watched(self.api_app)
        self._watched['metadata'] = self._metadata
        running = server.InProcess(
            monitoring.Monitoring(self._watched.values()), threads=monitor.THREADS
        )
        running.start()
        self._fronts.append(running)
        self.places.write_health({'all': running.url})

    def _start_front(self):
        settings = self.places.settings
        application = api.make(self.confs['control'])
        self.api_app = application.app
        self._metadata = metadata.Metadata(self.confs['metadata'])
        routes = {'/compute': self.wrap_api(application), '/placement': self._neighbours.placement}
        routes |= dict.fromkeys(SIMULATED, self._neighbours.simcloud)
        routes['/metadata'] = self._metadata
        running = server.InProcess(
            front.Front(routes, keep=SIMULATED),
            host=settings.listen,
            port=settings.port,
            threads=24,
        )
        try:
            running.start()
        except OSError as error:
            raise preflight.port_in_use(settings, error) from error
        self._fronts.append(running)


def _together(calls):
    """Make calls at the same time, each in a thread, and wait until all have ended."""
    for thread in [runtime.spawn(call) for call in calls]:
        thread.join()
