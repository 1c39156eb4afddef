"""A cloud with a process per daemon, over RabbitMQ."""

import requests

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.cmd.cloud import daemon_config
from nova_lite.cmd.cloud import layout
from nova_lite.cmd.cloud import setup
from nova_lite.cmd.cloud import supervisor
from nova_lite.wsgi import server

ANSWER_S = 60
LOOK_S = 0.05


class ProcessCloud:
    """As EmbeddedCloud, with every daemon a process of its own, supervised.

    children: {KIND.NAME: Child}
    """

    def __init__(self, settings):
        self.places = layout.Layout(settings)
        self.urls = {}
        self.confs = {}
        self.supervisor = supervisor.Supervisor()

    @property
    def url(self):
        return self.places.public_url

    @property
    def children(self):
        return {child.name: child for child in self.supervisor.children}

    def start(self, *, fresh=False, progress=lambda text: None):
        """Start everything, in the order in which one needs the other."""
        places = self.places
        places.prepare(fresh=fresh)
        progress('databases')
        setup.databases(places)
        progress('identity, image, network and volume services')
        self._start_neighbours()
        control = self._write('control', daemon_config.control(places, self.urls))
        self.confs['control'] = conf_module.make_conf(files=[control])
        setup.mappings(places, self.confs['control'])
        progress('cells')
        for cell in places.cell_names:
            self._child(
                'conductor',
                cell,
                'conductor',
                self._write(
                    f'conductor-{cell}', daemon_config.cell_conductor(places, self.urls, cell)
                ),
            )
            self._child(
                'compute',
                cell,
                'compute',
                self._write(f'compute-{cell}', daemon_config.compute(places, self.urls, cell)),
            )
        progress('scheduler, super-conductor and compute API')
        self._child('scheduler', 'top', 'scheduler', control)
        self._child('super-conductor', 'top', 'conductor', control)
        self._child('api', 'top', 'api', self._write('api', self._api_sections()))
        self._wait_for(f'{self.url}/compute/')
        setup.hosts(places, self.confs['control'])
        places.write_clouds()

    def stop(self):
        """Stop everything; what is under way goes on at the next start."""
        self.supervisor.stop()

    # ---- parts ----

    def _write(self, name, sections):
        return self.places.write_config(name, sections)

    def _child(self, kind, name, module, config):
        return self.supervisor.add(
            supervisor.Child(f'{kind}.{name}', f'nova_lite.cmd.{module}', config, self.places)
        )

    def _start_neighbours(self):
        places = self.places
        auth = places.settings.auth
        ports = {name: server.free_port() for name in ('simcloud', 'placement')}
        self.urls |= {name: f'http://127.0.0.1:{port}' for name, port in ports.items()}
        self._child(
            'simcloud',
            'top',
            'simcloud',
            self._write(
                'simcloud',
                {
                    'simcloud': {
                        'port': ports['simcloud'],
                        'auth_strategy': auth,
                        **places.secrets,
                        'connection': places.database_url(layout.SIMCLOUD),
                        'public_url': places.public_url,
                        'internal_url': self.urls['simcloud'],
                    }
                },
            ),
        )
        self._wait_for(f'{self.urls["simcloud"]}/identity/v3')
        self._child(
            'placement',
            'top',
            'placement',
            self._write(
                'placement',
                {
                    'placement_server': {
                        'port': ports['placement'],
                        'auth_strategy': auth,
                        'connection': places.database_url(layout.PLACEMENT),
                    },
                    'keystone_authtoken': {
                        **daemon_config.credentials(places, self.urls, 'placement'),
                        'www_authenticate_uri': f'{places.public_url}/identity',
                    },
                },
            ),
        )
        self._wait_for(f'{self.urls["placement"]}/placement/')

    def _api_sections(self):
        sections = daemon_config.control(self.places, self.urls)
        proxies = dict.fromkeys(
            ('/identity', '/image', '/network', '/volume'), self.urls['simcloud']
        )
        proxies['/placement'] = self.urls['placement']
        sections['api']['proxies'] = [f'{prefix}:{url}' for prefix, url in proxies.items()]
        return sections

    def _wait_for(self, url):
        deadline = runtime.monotonic() + ANSWER_S
        while True:
            try:
                if requests.get(url, timeout=5).status_code < 500:
                    return
            except requests.ConnectionError:
                pass
            if runtime.monotonic() > deadline:
                raise exception.Unavailable(
                    service=url,
                    reason=f'no answer in {ANSWER_S} s; see {self.places.path("log", "")}',
                )
            runtime.sleep(LOOK_S)
