"""A whole cloud in this process: every daemon, its buses in memory, SQLite files.

The same managers, RPC interfaces and sagas as with a process per daemon; only
the URLs differ.
"""

import functools
import os

from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.cmd import events_door
from nova_lite.cmd import monitor
from nova_lite.cmd import wiring
from nova_lite.cmd.cloud import daemon_config
from nova_lite.cmd.cloud import layout
from nova_lite.cmd.cloud import setup
from nova_lite.monitoring import app as monitoring
from nova_lite.rpc import embedded as embedded_bus
from nova_lite.simcloud import app as simcloud
from nova_lite.wsgi import front
from nova_lite.wsgi import placement
from nova_lite.wsgi import server

LOG = log.getLogger(__name__)

# Work flows downwards: who hands it on stops before who does it.
STOPPING = ('super-conductor', 'scheduler', 'compute', 'conductor')


class EmbeddedCloud:
    """Start, stop and look into a cloud that lives in this process.

    places: its Layout; daemons: {name: service.Daemon}; confs: {name: ConfigOpts}
    """

    def __init__(self, settings):
        self.places = layout.Layout(settings)
        self.urls = {}
        self.daemons = {}
        self.confs = {}
        self._watched = {}
        self._servers = []
        self._simcloud = None
        self.api_app = None
        self._events = None

    @property
    def url(self):
        return self.places.public_url

    def start(self, *, fresh=False, progress=lambda text: None):
        """Start everything, in the order in which one needs the other."""
        self.places.prepare(fresh=fresh)
        progress('databases')
        setup.databases(self.places, fresh=fresh)
        progress('identity, image, network and volume services')
        self._start_neighbours()
        self._configure()
        setup.mappings(self.places, self.confs['control'])
        progress('cells')
        for cell in self.places.cell_names:
            self.start_daemon(f'conductor-{cell}', wiring.cell_conductor)
        for cell in self.places.cell_names:
            self.start_daemon(f'compute-{cell}', wiring.compute)
        progress('scheduler and super-conductor')
        self.start_daemon('scheduler', wiring.scheduler, 'control')
        self.start_daemon('super-conductor', wiring.super_conductor, 'control')
        setup.hosts(self.places, self.confs['control'])
        progress('compute API')
        self._start_front()
        self._start_monitoring()
        self._events = events_door.EventsDoor(self.places.root)
        self._events.open()
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
        """Stop everything, newest first. What is under way goes on at the next start."""
        neighbours, front = self._servers[:2], self._servers[2:]
        events = [self._events.close] if self._events is not None else []
        _together([*events, *(running.stop for running in front)])
        self._events = None
        for kind in STOPPING:
            names = [name for name in self.daemons if name.startswith(kind)]
            _together(functools.partial(self.stop_daemon, name) for name in names)
        _together(running.stop for running in neighbours)
        self._servers.clear()
        if self._simcloud is not None:
            self._simcloud.close()
        if os.path.exists(self._pid_path):
            os.unlink(self._pid_path)
        embedded_bus.forget(self.places.tag)
        self.places.release()

    # ---- parts ----

    @property
    def _pid_path(self):
        return self.places.path('run', 'all.embedded.pid')

    def _start_neighbours(self):
        settings = self.places.settings
        port = server.free_port()
        self._simcloud = simcloud.make_app(
            self.places.database_url(layout.SIMCLOUD),
            self.places.public_url,
            options={
                **self.places.secrets,
                'auth': settings.auth,
                'compute_events': True,
                'internal_url': f'http://127.0.0.1:{port}',
            },
        )
        self._serve('simcloud', self._simcloud, threads=16, port=port)
        self._placement = placement.make_app(
            self.places.database_url(layout.PLACEMENT),
            auth_strategy=settings.auth,
            keystone=None
            if settings.auth == 'noauth'
            else {
                **daemon_config.credentials(self.places, self.urls, 'placement'),
                'www_authenticate_uri': f'{self.places.public_url}/identity',
            },
        )
        self._serve('placement', front.Front({'/placement': self._placement}), threads=8)

    def _serve(self, name, application, *, threads, port=0):
        running = server.InProcess(application, threads=threads, port=port)
        running.start()
        self._servers.append(running)
        self.urls[name] = running.url

    def _configure(self):
        places, urls = self.places, self.urls
        sections = {'control': daemon_config.control(places, urls)}
        for cell in places.cell_names:
            sections[f'conductor-{cell}'] = daemon_config.cell_conductor(places, urls, cell)
            sections[f'compute-{cell}'] = daemon_config.compute(places, urls, cell)
        for name, values in sections.items():
            path = places.write_config(name, values)
            self.confs[name] = conf_module.make_conf(files=[path])

    def _start_monitoring(self):
        self._watched['api'] = wiring.watched_api(self.api_app)
        running = server.InProcess(
            monitoring.Monitoring(self._watched.values()), threads=monitor.THREADS
        )
        running.start()
        self._servers.append(running)
        self.places.write_health({'all': running.url})

    def _start_front(self):
        settings = self.places.settings
        application = wiring.api(self.confs['control'])
        self.api_app = application.app
        routes = {'/compute': application, '/placement': self._placement}
        routes |= dict.fromkeys(('/identity', '/image', '/network', '/volume'), self._simcloud)
        running = server.InProcess(
            front.Front(routes, keep=('/identity', '/image', '/network', '/volume')),
            host=settings.listen,
            port=settings.port,
            threads=24,
        )
        try:
            running.start()
        except OSError as error:
            raise exception.Unavailable(
                service=f'Port {settings.port}', reason=f'{error}; choose another with --port'
            ) from error
        self._servers.append(running)


def _together(calls):
    """Make calls at the same time, each in a thread, and wait until all have ended."""
    for thread in [runtime.spawn(call) for call in calls]:
        thread.join()
