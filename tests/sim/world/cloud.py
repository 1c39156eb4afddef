"""The daemons of a simulated cloud, each in a process that can die and start again."""

from nova_lite import conf as conf_module
from nova_lite.daemons import api
from nova_lite.daemons import compute
from nova_lite.daemons import conductor
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import placement
from nova_lite.lab import tuned_placement
from nova_lite.lab.launcher import layout
from nova_lite.simcloud import app as simcloud
from tests.sim import kernel
from tests.sim.world import places as places_module
from tests.sim.world.placement import double

# Where the files of guests are, so that who reads them measures time since the same boot.
HYPERVISORS = 'hypervisors'
# Of the network whose ports servers get.
SHARED_CIDR = '10.1.0.0/16'


class Cloud:
    """places: its Layout; size: a places.Size; network: a network.Network

    doubled: whether a double answers frequent requests to placement
    events: whether simcloud reports to the compute API what users do to ports and volumes
    processes: {name: kernel process} of those that run
    fenced: {host: virtual time since when an operator knows that it does not run}
    standing: {name of a frozen process: detail of the effect at which it was frozen, or None}
    """

    def __init__(self, places, size, network, *, events=False, doubled=True):
        self.places, self.size, self.network = places, size, network
        self._events, self._doubled = events, doubled
        self.processes, self.daemons, self.fenced = {}, {}, {}
        self.standing = {}
        self._confs = {}
        self._makers = {
            'simcloud': self._simcloud,
            'placement': self._placement,
            **{
                name: conductor.make
                for cell in places.cell_names
                for name in size.conductors_of(cell)
            },
            **dict.fromkeys(self._computes(), compute.make),
            'scheduler': scheduler.make,
            **dict.fromkeys(size.supers, super_conductor.make),
            **dict.fromkeys(size.apis, self._api),
        }

    def _computes(self):
        """{name of a compute process: its hosts}"""
        found = {}
        for cell in self.places.cell_names:
            found.update(self.size.computes_of(cell, self.places.hosts(cell)))
        return found

    def hosts_of(self, name):
        """The hosts of a compute process."""
        return self._computes()[name]

    def is_down(self, host):
        """Return whether a host has not run for so long that its service counts as down."""
        since = self.fenced.get(host)
        if since is None:
            return False
        return kernel.current().time() > since + self.conf('scheduler').service_down_time

    def others_in_cell(self, host):
        """Return the other hosts of a host's cell; none of a host that is not known."""
        cells = [set(self.places.hosts(cell)) for cell in self.places.cell_names]
        return sorted(each for cell in cells if host in cell for each in cell - {host})

    @property
    def names(self):
        """Of all processes, in the order in which they are started."""
        return list(self._makers)

    @property
    def hosts(self):
        """Of all cells."""
        return [host for cell in self.places.cell_names for host in self.places.hosts(cell)]

    def start(self, name, **clock):
        """Start a process, in its own thread; clock: see kernel's process."""
        process = self._made(name, **clock)
        with process.entered():
            self._run(name)

    def restart(self, name, done):
        """Start a process that was killed, as systemd does: its start may be killed too.

        done: called when it has started
        """

        def run():
            self._run(name)
            done()

        self._made(name).spawn(run, name='main')

    def _made(self, name, **clock):
        machine = HYPERVISORS if name.startswith('compute') else None
        process = self.processes[name] = kernel.current().process(name, machine=machine, **clock)
        return process

    def kill(self, name):
        """Kill a process where it stands."""
        self.processes.pop(name).kill()
        self.daemons.pop(name, None)

    def _run(self, name):
        make = self._makers[name]
        if name in ('simcloud', 'placement') or name in self.size.apis:
            self.network.serve(f'{name}.sim', self.processes[name], make(name))
            return
        daemon = make(self.conf(name))
        daemon.start()
        self.daemons[name] = daemon

    def behave(self, profile):
        """Apply a profile (YAML) to all hosts from now on."""
        places_module.write_profile(profile)
        for name, daemon in self.daemons.items():
            with self.processes[name].entered():
                daemon.reload()

    def conf(self, name):
        """The configuration of a process."""
        if name not in self._confs:
            self._confs[name] = conf_module.make_conf(
                files=[self.places.path('etc', f'{name}.conf')]
            )
        return self._confs[name]

    def _simcloud(self, _name):
        url = places_module.URLS['simcloud']
        options = {**self.places.secrets, 'auth': 'noauth', 'internal_url': url}
        options['shared_cidr'] = SHARED_CIDR
        if self._events:
            compute = f'http://{self.size.apis[0]}.sim/v2.1'
            options |= {'compute_events': True, 'endpoints': {'compute': compute}}
        return simcloud.make_app(self.places.database_url(layout.SIMCLOUD), url, options=options)

    def _placement(self, _name):
        url = self.places.database_url(layout.PLACEMENT)
        application = placement.make_app(
            url,
            auth_strategy='noauth',
            # It may be killed between two parts of a request, as on a database server.
            tuning=tuned_placement.of(is_wanted=True, atomic=False),
        )
        if self._doubled:
            application = double.Double(application, url.removeprefix('sqlite:///'))
        return front.Front({'/placement': application})

    def _api(self, name):
        return api.make(self.conf(name))
