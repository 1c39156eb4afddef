"""The nemesis: breaks one thing at a time, by a seeded order, and mends it again."""

import signal

import requests

from nova_lite import runtime
from nova_lite.virt.sim import hostpower
from tests.chaos import caller

# Quiet time between two faults, in which every failure is a violation.
QUIET_S = 12
FROZEN_S = (2, 8)
AWAY_S = (1, 6)
WELL_S = 120
SERVICES = '/os-services?binary=nova-compute'


class Nemesis:
    """Runs in a thread. stop: an Event; kinds: of faults done so far, with what they hit"""

    def __init__(self, cloud, ledger, *, seed, stop):
        self._cloud, self._ledger, self._stop = cloud, ledger, stop
        self._rng = runtime.seeded_random(f'{seed}/nemesis')
        self._caller = caller.Caller(cloud, ledger, 'nemesis')
        self.done = []

    def run(self):
        """Do harm until the event is set; each kind of fault comes before one is repeated."""
        try:
            while True:
                for act in self._rng.sample(self._acts(), len(self._acts())):
                    if runtime.wait(self._stop, QUIET_S):
                        return
                    act()
        except Exception as error:
            self._ledger.violation('defect of the test', f'nemesis: {error!r}')
            raise

    def _acts(self):
        return [
            self._kill,
            self._freeze,
            self._broker,
            self._silence,
            self._database,
            self._host,
        ]

    def _begin(self, name):
        self.done.append(name)
        return self._ledger.fault(name)

    def _daemon(self):
        return self._rng.choice(sorted(self._cloud.cloud.children))

    def _kill(self):
        name = self._daemon()
        child = self._cloud.cloud.children[name]
        with self._begin(f'kill {name}'):
            starts = child.starts
            self._cloud.signal(name, signal.SIGKILL)
            self._await(lambda: child.starts > starts, f'{name} to start again')
            self._await_well()

    def _freeze(self):
        name = self._daemon()
        self._pause(
            name,
            lambda: self._cloud.signal(name, signal.SIGSTOP),
            lambda: self._cloud.signal(name, signal.SIGCONT),
        )

    def _silence(self):
        name = self._rng.choice(sorted(self._cloud.brokers))
        broker = self._cloud.brokers[name]
        self._pause(f'broker {name}', broker.pause, broker.resume)

    def _pause(self, name, pause, resume):
        seconds = self._rng.uniform(*FROZEN_S)
        with self._begin(f'freeze {name} for {seconds:.0f} s'):
            pause()
            try:
                runtime.sleep(seconds)
            finally:
                resume()
            self._await_well()

    def _broker(self):
        name = self._rng.choice(sorted(self._cloud.brokers))
        with self._begin(f'restart broker {name}'):
            broker = self._cloud.brokers[name]
            broker.kill()
            broker.start()
            self._await_well()

    def _database(self):
        seconds = self._rng.uniform(*AWAY_S)
        with self._begin(f'kill the database for {seconds:.0f} s'):
            self._cloud.database.kill()
            runtime.sleep(seconds)
            self._cloud.database.start()
            self._await_well()

    # ---- a host fails, is evacuated, and comes back ----

    def _host(self):
        places = self._cloud.cloud.places
        cell = self._rng.choice(sorted(places.cell_names))
        host = self._rng.choice(sorted(places.hosts(cell)))
        with self._begin(f'power off {host}'):
            path = places.guests_path(cell)
            hostpower.power_off(path, host)
            try:
                self._force_down(host, True)
                for uuid in self._servers_on(host):
                    self._caller.send(
                        'evacuate', 'POST', f'/servers/{uuid}/action', {'evacuate': {}}
                    )
                runtime.sleep(self._rng.uniform(*AWAY_S))
            finally:
                hostpower.power_on(path, host)
            # It is refused until the host is clear of what was evacuated.
            self._await(lambda: self._force_down(host, False), f'{host} to come back')

    def _servers_on(self, host):
        code, found = self._caller.send('list', 'GET', f'/servers?all_tenants=1&host={host}')
        return [each['id'] for each in found['servers']] if code == 200 else []

    def _force_down(self, host, down):
        _code, found = self._caller.send('services', 'GET', f'{SERVICES}&host={host}')
        ids = [each['id'] for each in found.get('services', ())]
        if not ids:
            return False
        path = f'/os-services/{ids[0]}'
        code, _found = self._caller.send('force down', 'PUT', path, {'forced_down': down})
        return code == 200

    # ---- being well ----

    def _await_well(self):
        """Wait until every daemon says that it is well."""
        self._await(lambda: not self._unwell(), 'all daemons to be well')

    def _await(self, condition, what):
        try:
            self._cloud.wait_for(condition, what, WELL_S)
        except AssertionError as error:
            self._ledger.violation('no recovery', f'{self.done[-1]}: {error}; {self._unwell()}')

    def _unwell(self):
        """Return the names of the daemons that do not say that they are well."""
        return [name for name, url in self._cloud.cloud.health_urls.items() if not _well(url)]


def _well(url):
    try:
        return requests.get(f'{url}/healthcheck', timeout=30).status_code == 200
    except requests.RequestException:
        return False
