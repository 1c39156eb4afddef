"""The faults that are injected into a running embedded cloud.

Failures of operations and switched buses and databases end with the process; a host that was
powered off stays off.
"""

import contextlib
import fnmatch

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import request_faults
from nova_lite.rpc import transport
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile

LOG = log.getLogger(__name__)

DATABASE, BUS = 'database', 'bus'
# States of buses, and what makes a broker so.
CUT, FROZEN, HEALED = 'cut', 'frozen', 'healed'
SWITCHES = {
    CUT: memory_broker.Broker.cut,
    FROZEN: memory_broker.Broker.freeze,
    HEALED: memory_broker.Broker.heal,
}


class Unknown(exception.NotFound):
    msg = '%(what)s %(name)r does not exist. Use one of: %(known)s.'


def of_files(places):
    """Return what `Faults.show` returns of a cloud in whose processes no fault is injected."""
    return {
        'failures': [],
        'hosts_off': [
            host
            for cell in places.cell_names
            for host in hostpower.list_off(places.guests_path(cell))
        ],
        'databases_down': [],
        'buses_cut': [],
        'buses_frozen': [],
    }


class Faults:
    """Injects faults into the cloud in this process.

    places: the Layout of the cloud
    drivers: function that returns the drivers of its compute processes
    incarnation: function that returns its incarnation.Incarnation
    """

    def __init__(self, places, drivers, incarnation):
        self._places, self._drivers, self._incarnation = places, drivers, incarnation
        self._lock = runtime.RLock()
        self.requests = request_faults.RequestFaults()
        # By id: the entry as it was given, and its rule or Fault.
        self._failures = {}
        self._number = 0
        self._databases = set()
        # The states of those that are not healed, by name.
        self._buses = {}

    def show(self):
        """Return {failures, hosts_off, databases_down, buses_cut, buses_frozen}."""
        with self._lock:
            return {
                **of_files(self._places),
                'failures': [
                    {'id': number, **entry} for number, (entry, _rule) in self._failures.items()
                ],
                'databases_down': sorted(self._databases),
                'buses_cut': self._buses_that_are(CUT),
                'buses_frozen': self._buses_that_are(FROZEN),
            }

    def _buses_that_are(self, state):
        return sorted(name for name, found in self._buses.items() if found == state)

    # ---- operations of hosts, and requests to services ----

    def add(self, entry):
        """Inject a failure, and return its id. Raise ProfileError, Unknown, Invalid.

        entry: dict, as in `failures` of a profile, or as of request_faults
        """
        with self._lock:
            of_service = request_faults.SERVICE in entry
            number = self._number + 1
            rule = request_faults.parse(number, entry) if of_service else self._parse(entry)
            self._number = number
            self._failures[number] = entry, rule
            self._inject()
            LOG.warning('Fault %s was added: %s', number, entry)
            return number

    def _parse(self, entry):
        rule = profile.parse_failure(entry, f'injected-{runtime.new_uuid()}')
        hosts = list(self._hosts())
        if not fnmatch.filter(hosts, rule.match.host):
            raise Unknown(what='Host', name=rule.match.host, known=', '.join(hosts))
        return rule

    def clear(self, number=None):
        """Remove an injected failure, or all. Raise Unknown."""
        with self._lock:
            if number is None:
                self._failures.clear()
            elif self._failures.pop(number, None) is None:
                known = ', '.join(str(each) for each in self._failures) or 'there is none'
                raise Unknown(what='Fault', name=number, known=known)
            self._inject()
            if number is None:
                LOG.warning('All injected failures were cleared')
            else:
                LOG.warning('Fault %s was cleared', number)

    def _inject(self):
        of_requests, of_hosts = [], []
        for _entry, rule in self._failures.values():
            is_of_request = isinstance(rule, request_faults.Fault)
            (of_requests if is_of_request else of_hosts).append(rule)
        self.requests.inject(of_requests)
        for driver in self._drivers():
            driver.inject(of_hosts)

    # ---- hosts ----

    def switch_host(self, name, *, on):
        """Cut the power of a host, or give it back. Raise Unknown."""
        hosts = self._hosts()
        if name not in hosts:
            raise Unknown(what='Host', name=name, known=', '.join(hosts))
        switch = hostpower.power_on if on else hostpower.power_off
        switch(self._places.guests_path(hosts[name]), name)
        LOG.warning('Host %s was powered %s', name, 'on' if on else 'off')

    def _hosts(self):
        """Return {host: cell}."""
        return {host: cell for cell in self._places.cell_names for host in self._places.hosts(cell)}

    # ---- cells and buses ----

    def switch_cell(self, name, *, up, parts=(DATABASE, BUS)):
        """Take the database or the bus of a cell down, or both, or up again. Raise Unknown."""
        known = self._places.cell_names
        if name not in known:
            raise Unknown(what='Cell', name=name, known=', '.join(known))
        with self._lock:
            if DATABASE in parts:
                self._switch_database(name, up)
            if BUS in parts:
                self._switch_bus(name, HEALED if up else CUT)

    def switch_bus(self, state, name=None):
        """Cut, freeze or heal the bus of the top or of a cell, or all buses. Raise Unknown."""
        known = [layout.TOP, *self._places.cell_names]
        if name is not None and name not in known:
            raise Unknown(what='Bus', name=name, known=', '.join(known))
        with self._lock:
            for each in known if name is None else [name]:
                self._switch_bus(each, state)

    def heal(self):
        """Remove all faults but hosts without power: daemons need their bus to stop."""
        if self._failures:
            self.clear()
        with self._lock:
            for name in set(self._databases):
                self._switch_database(name, True)
            for name in set(self._buses):
                self._switch_bus(name, HEALED)

    @contextlib.contextmanager
    def healed(self):
        """Heal; what is to be injected inside the block waits for its end, and new daemons."""
        with self._lock:
            self.heal()
            yield

    def _switch_database(self, name, up):
        found, url = self._incarnation(), self._places.database_url(name)
        (found.bring_up if up else found.take_down)(url)
        (self._databases.discard if up else self._databases.add)(name)
        LOG.warning('The database of %s was taken %s', name, 'up' if up else 'down')

    def _switch_bus(self, name, state):
        url = self._places.bus_url(name)
        broker = memory_broker.broker(transport.embedded_name(url, self._incarnation()))
        # Of a bus that is frozen, and cut after that, both end.
        broker.heal()
        SWITCHES[state](broker)
        self._buses.pop(name, None)
        if state != HEALED:
            self._buses[name] = state
        LOG.warning('The bus of %s was %s', name, state)
