"""A cloud with a process per daemon, over RabbitMQ. This process serves its live page."""

import os

import requests

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.conf import servers
from nova_lite.lab.control import faults
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import fault_places
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import live_page
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import setup
from nova_lite.lab.launcher import supervisor
from nova_lite.wsgi import proxy
from nova_lite.wsgi import server

ANSWER_S = 60
LOOK_S = 0.05
# More than viewers, each of whom holds one.
PAGE_THREADS = 12

# Those that read their configuration again at SIGHUP.
RELOADING = ('conductor.', 'compute.', 'scheduler.', 'super-conductor.')
# Of the neighbours: how many processes a configuration asks for.
WORKERS = {
    'simcloud': lambda conf: conf.simcloud.workers,
    'placement': servers.placement_workers,
}
# Daemons that pass work on stop first, then those that do it, then those that all need.
STAGES = ('neighbour', 'conductor', 'compute', 'scheduler', 'super-conductor', 'api')


def _read(config):
    return conf_module.make_conf(files=[config])


class ProcessCloud:
    """As EmbeddedCloud, with every daemon a process of its own, supervised.

    launch: starts a process, as `supervisor.launch`
    children: {KIND.NAME: Child}
    """

    def __init__(self, settings, *, launch=supervisor.launch):
        self.places = layout.Layout(settings)
        self.urls = {}
        self.confs = {}
        self.health_urls = {}
        self.supervisor = supervisor.Supervisor(launch)
        self._page = live_page.LivePage(
            self.places,
            proxy.Proxy(self.url),
            lambda: faults.of_files(fault_places.of(self.places)),
        )
        self._page_server = None

    @property
    def url(self):
        return self.places.public_url

    @property
    def children(self):
        return {child.name: child for child in self.supervisor.children}

    def start(self, *, fresh=False, progress=lambda text: None, fill=None):
        """Start everything; what needs another waits for it by itself.

        progress: called with a line of text for each part
        fill: function that creates the first objects of a new cloud, through its APIs
        """
        places = self.places
        places.prepare(fresh=fresh)
        is_new = not os.path.exists(places.clouds_path)
        self._wait_for_brokers(progress)
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
        self._child('super-conductor', 'top', 'conductor', control)
        self._start_metadata()
        api = self._write('api', self._api_sections())
        self._child('api', 'top', 'api', api, workers=_read(api).api.workers)
        self._wait_for(f'{self.url}/compute/', 'api.top')
        progress('hosts')
        setup.hosts(places, self.confs['control'])
        places.write_health(self.health_urls)
        self._start_page()
        if fill is not None and is_new:
            fill()
        client_config.write(places)

    def reload(self):
        """Make the daemons read their configuration and the files that it names again.

        Return no error: they log theirs.
        """
        for child in self.supervisor.children:
            if child.name.startswith(RELOADING):
                child.reload()
        return []

    def stop(self):
        """Stop everything; what is under way goes on at the next start."""
        close_page = self._page.end()
        if self._page_server is not None:
            self._page_server.stop()
        close_page()
        self.supervisor.stop()
        self.places.release()

    # ---- parts ----

    def _wait_for_brokers(self, progress):
        conf = conf_module.make_conf(files=[])
        options = self.places.settings.options.get('oslo_messaging_rabbit')
        for name in (layout.TOP, *self.places.cell_names):
            preflight.wait_for_broker(
                self.places.bus_url(name), conf, ANSWER_S, progress, options=options
            )

    def _create_databases(self, fresh, progress):
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

    def _write(self, name, sections):
        return self.places.write_config(name, sections)

    def _child(self, kind, name, module, config, *, workers=1):
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

    def _monitored(self, name, workers):
        """Write a configuration file with a health port for each process of a daemon."""
        port = server.free_port(count=workers)
        for number in range(workers):
            unit = f'{name}.{number + 1}' if number else name
            self.health_urls[unit] = f'http://127.0.0.1:{port + number}'
        return self.places.write_config(f'health-{name}', {'health': {'port': port}}, alone=True)

    def _start_cell(self, cell):
        config = daemon_config.cell_conductor(self.places, self.urls, cell)
        self._child('conductor', cell, 'conductor', self._write(f'conductor-{cell}', config))
        config = daemon_config.compute(self.places, self.urls, cell)
        self._child('compute', cell, 'compute', self._write(f'compute-{cell}', config))

    def _start_neighbours(self):
        places = self.places
        ports = {name: server.free_port() for name in ('simcloud', 'placement')}
        self.urls |= {name: f'http://127.0.0.1:{port}' for name, port in ports.items()}
        for name in ports:
            sections = getattr(daemon_config, name)(places, self.urls, ports[name])
            config = self._write(name, sections)
            self._child(name, 'top', name, config, workers=WORKERS[name](_read(config)))

    def _start_metadata(self):
        port = server.free_port()
        self.urls['metadata'] = f'http://127.0.0.1:{port}'
        sections = daemon_config.metadata(self.places, port)
        self._child('metadata', 'top', 'metadata', self._write('metadata', sections))

    def _start_page(self):
        """Serve the live page on a port of its own: that of the cloud is the API's."""
        if self.places.has_page:
            self._page.renew(self.confs['control'])
            self._page_server = server.InProcess(
                self._page.application, host=self.places.settings.listen, threads=PAGE_THREADS
            )
            self._page_server.start()
            self.places.page_origin = self._page_server.url

    def _api_sections(self):
        sections = daemon_config.control(self.places, self.urls)
        proxies = dict.fromkeys(
            ('/identity', '/image', '/network', '/volume', '/share'), self.urls['simcloud']
        )
        proxies |= {f'/{name}': self.urls[name] for name in ('placement', 'metadata')}
        sections['api']['proxies'] = [f'{prefix}:{url}' for prefix, url in proxies.items()]
        return sections

    def _wait_for(self, url, name):
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
