"""The nemesis: kills and freezes processes, cuts connections and power, sets clocks.

From an ambush it strikes a process in the middle of its work for a request: at a random
time most processes only wait. Work is counted in effects, for what dies while it only
reads has done nothing by halves. Several processes may be in trouble at the same time.
"""

import contextlib

from nova_lite import runtime
from nova_lite.virt.sim import hostpower
from tests.sim import kernel
from tests.sim.world import cloud as cloud_module
from tests.sim.world import denials
from tests.sim.world import faults as faults_module
from tests.sim.world import stalls

AWAY_S = (0.1, 40)
# How often one looks whether the hosts of a machine that woke have reported, and how long.
LOOK_S, RETURN_S = 0.5, 120
# The name of the column is a word of SQL.
REPORTS = """
    SELECT report_count FROM services WHERE host = ? AND services.binary = 'nova-compute'
"""
# Half of the buses accept a connection again before a call has timed out.
BUS_AWAY_S = (0, 20)
LEAPS_S = (-600, -30, 30, 600)
OFF = 'power off'
# After this time an ambush is given up.
AMBUSH_S = 30
READS = 'GET '
DAEMONS = ('super', 'conductor', 'compute', 'scheduler')


class Nemesis:
    """plan: a workload.plan.Plan; guests: an oracle.guests.Guests; world: a stage.Stage"""

    def __init__(self, cloud, plan, *, guests, world):
        self._cloud, self._plan, self._guests = cloud, plan, guests
        self._world, self._faults, self._buses = world, world.faults, world.buses
        self._stream = kernel.current().stream('nemesis')
        # Processes and hosts that are in trouble; a dictionary, since a set has no order.
        self._troubled = {}
        # The detail of the effect at which an ambush strikes just now.
        self._where = None

    def run(self, until):
        """Do all harm until a virtual time, spread evenly, and mend it."""
        now = kernel.current()
        if self._plan.drift:
            self._let_drift()
        threads = []
        for moment, name, victim, act in self._drawn(now.time(), until):
            now.sleep(max(0.0, moment - now.time()))
            if self._stream.happens(1, name):
                threads.append(runtime.spawn(self._harm, victim, act, name=name))
        for thread in threads:
            thread.join()
        now.sleep(max(0.0, until - now.time()))
        for process in self._cloud.processes.values():
            process.set_clock()

    def _harm(self, victim, act):
        """Do harm to a victim unless it is in trouble already."""
        if victim not in self._troubled:
            self._troubled[victim] = True
            act()
            del self._troubled[victim]

    def _drawn(self, begin, until):
        """[(virtual time, name, victim, function), ...]; none depends on what happens."""
        kinds = {
            'kill': (self._plan.kills, self._kill),
            'freeze': (self._plan.freezes, self._freeze),
            'suspend': (self._plan.suspends, self._suspend),
            'leap': (self._plan.leaps, self._leap),
            OFF: (self._plan.hosts_off, self._off),
            'outage': (self._plan.outages, self._outage),
            'bus': (self._plan.bus_losses, self._lose_bus),
            'silence': (self._plan.silences, self._silence_bus),
            'denial': (self._plan.denials, self._deny),
            'stall': (self._plan.stalls, self._stall),
            'blackout': (self._plan.blackouts, self._darken),
            'slow down': (1 if self._plan.later_profile else 0, self._slow_down),
        }
        parts = {OFF: self._plan.off_by, 'denial': self._plan.denied_by}
        drawn = []
        for name, (number, draw) in kinds.items():
            last = until
            if name in parts:
                last -= (until - begin) * (1 - parts[name])
            for _ in range(number):
                drawn.append((self._stream.uniform(begin, last), name, *draw()))
        return sorted(drawn, key=lambda each: each[:2])

    def _victim(self, *kinds):
        return self._stream.choice([name for name in self._cloud.names if name.startswith(kinds)])

    def _kill(self):
        return self._death(self._victim(*self._plan.victims), self._stream.uniform(*AWAY_S))

    def _outage(self):
        return self._death(
            self._victim(*self._plan.neighbours),
            self._stream.uniform(*self._plan.outage_s),
            self._plan.watched,
        )

    def _death(self, name, seconds, watched=()):
        strike = self._ambush(name, watched)

        def act():
            fault = strike(lambda: self._killed(name))
            kernel.current().sleep(seconds)
            self._cloud.restart(name, lambda: self._faults.ended(fault))

        return name, act

    def _began(self, fate, name):
        """Put on record that a process is in trouble from now on."""
        hosts = self._cloud.hosts_of(name) if name.startswith('compute') else ()
        return self._faults.began('nemesis', fate, name, hosts)

    def _killed(self, name):
        fault = self._began('kill', name)
        self._cloud.kill(name)
        return fault

    def _freeze(self):
        name, seconds = (
            self._victim(*(self._plan.freezable or self._plan.victims)),
            self._stream.uniform(*self._plan.frozen_s),
        )
        strike = self._ambush(name)

        def act():
            fault = strike(lambda: self._frozen(name))
            kernel.current().sleep(seconds)
            self._cloud.standing.pop(name, None)
            self._cloud.processes[name].thaw()
            self._faults.ended(fault)

        return name, act

    def _frozen(self, name):
        fault = self._began('freeze', name)
        process = self._cloud.processes[name]
        process.freeze()
        self._cloud.standing[name] = self._where
        fault.locked = self._world.locked_by(process)
        return fault

    def _lose_bus(self):
        """The connections of a process to a bus close, which then refuses others for a while."""
        name, bus = self._victim(*DAEMONS, 'api'), self._stream.choice(sorted(self._buses))
        seconds = self._stream.uniform(*BUS_AWAY_S)
        strike = self._ambush(name)

        def lost():
            fault = self._began(f'lost bus {bus}', name)
            self._buses[bus].lose(self._cloud.processes[name], seconds)
            return fault

        def act():
            fault = strike(lost)
            kernel.current().sleep(seconds)
            self._faults.ended(fault)

        return name, act

    def _silence_bus(self):
        """A bus accepts messages and connections, and answers and delivers nothing for a while."""
        bus = self._stream.choice(sorted(self._buses))
        seconds = self._stream.uniform(*self._plan.silent_s)

        def act():
            fault = self._faults.began('nemesis', 'silent bus', f'bus-{bus}')
            self._buses[bus].freeze()
            kernel.current().sleep(seconds)
            self._buses[bus].heal()
            self._faults.ended(fault)

        return f'bus-{bus}', act

    def _deny(self):
        """A neighbour refuses requests of a kind, for longer than anything is tried again."""
        denial = denials.Denial(
            self._stream.choice(sorted(self._plan.denied or denials.KINDS)),
            self._stream.choice(denials.STATUSES),
        )
        seconds = self._stream.uniform(*self._plan.denied_s)

        def act():
            known = self._world.network.denials
            known.append(denial)
            kernel.current().log('neighbours refuse', str(denial))
            kernel.current().sleep(seconds)
            known.remove(denial)

        return f'denial of {denial.kind}', act

    def _stall(self):
        """The image service does not answer daemons for a while, or answers 503."""
        seconds = self._stream.uniform(*self._stream.choice(self._plan.stalled_s))
        stall = stalls.Stall(
            silent=self._stream.choice((True, False)), short=seconds < stalls.SHORT_S
        )

        def act():
            kernel.current().log('image service', stall.fate)
            self._world.network.stalls.append(stall)
            kernel.current().sleep(seconds)
            self._world.network.stalls.remove(stall)

        return 'image service', act

    def _darken(self):
        """The database of a cell does not answer for a while."""
        cell = self._stream.choice(self._cloud.places.cell_names)
        seconds = self._stream.uniform(*self._plan.dark_s)

        def act():
            hosts = self._cloud.places.hosts(cell)
            fault = self._faults.began('nemesis', 'blackout', f'database-{cell}', hosts)
            fault.locked = (cell,)
            self._faults.dark[cell] = True
            kernel.current().sleep(seconds)
            del self._faults.dark[cell]
            self._faults.ended(fault)

        return f'database-{cell}', act

    def _ambush(self, name, watched=()):
        """A function that strikes (calls a function) at once, or when the process works.

        watched: how the names of others begin at whose work it strikes instead
        """
        passed = None
        if self._plan.ambush:
            passed = self._stream.randrange(self._stream.choice(self._plan.passed))

        def strike(function):
            if passed is None:
                return function()
            now, left, done, after = kernel.current(), passed, [], self._plan.after

            def check(_number, what, detail):
                nonlocal left, after
                if done or not f'{what}: {detail}'.startswith(after or self._plan.effects):
                    return
                if detail.startswith(READS) or not self._is_at_work(watched or name):
                    return
                if after:
                    after = ''
                    return
                left -= 1
                if left < 0:
                    self._where = detail
                    done.append(function())
                    self._where = None

            cancel = now.at_points(check)
            now.block_until(lambda: bool(done), 'ambush', AMBUSH_S)
            cancel()
            return done[0] if done else function()

        return strike

    def _is_at_work(self, names):
        """Return whether what runs is work for a request, of a process whose name begins so."""
        home = kernel.current().running.home
        name = '' if home is None else home.name
        # Neighbours work only when they are asked to.
        return name.startswith(names) and (
            not name.startswith(DAEMONS) or faults_module.is_at_work()
        )

    def _leap(self):
        name, seconds = self._victim(*DAEMONS, 'api'), self._stream.choice(LEAPS_S)

        def act():
            self._faults.note('nemesis', f'clock leaps by {seconds} s', name, process=name)
            self._cloud.processes[name].set_clock(offset=seconds)

        return name, act

    def _let_drift(self):
        for name, process in self._cloud.processes.items():
            if not name.startswith('compute'):
                drift = self._stream.uniform(-self._plan.drift, self._plan.drift)
                self._faults.note('nemesis', f'clock drifts by {drift:.3f}', name, process=name)
                process.set_clock(drift=drift)

    def _suspend(self):
        """A machine that sleeps with all that is on it, and wakes as if nothing had been."""
        name = self._victim('compute')
        seconds = self._stream.uniform(*self._plan.suspended_s)

        def act():
            now, hosts = kernel.current(), dict.fromkeys(self._cloud.hosts_of(name), True)
            fault = self._began('suspend', name)
            self._cloud.processes[name].freeze()
            self._guests.still.update(hosts)
            self._cloud.fenced.update(dict.fromkeys(hosts, now.time()))
            now.sleep(seconds)
            for host in hosts:
                self._cloud.fenced.pop(host, None)
            reports = {host: self._reports(name, host) for host in hosts}
            self._cloud.processes[name].thaw()
            self._faults.ended(fault)
            deadline = now.time() + RETURN_S
            while reports and now.time() < deadline:
                now.sleep(LOOK_S)
                for host in [host for host in reports if self._reports(name, host) > reports[host]]:
                    del reports[host], self._guests.still[host]
                    self._guests.look()

        return name, act

    def _reports(self, name, host):
        """Return how many heartbeats of a host are on record."""
        with contextlib.closing(self._world.reader(name.split('-')[1])) as connection:
            ((found,),) = connection.execute(REPORTS, [host])
        return found

    def _slow_down(self):
        return 'hosts', lambda: self._cloud.behave(self._plan.later_profile)

    def _off(self):
        places = self._cloud.places
        cell = self._stream.choice(places.cell_names)
        host = self._stream.choice(places.hosts(cell))
        seconds = self._stream.uniform(*self._plan.off_s)
        path = places.guests_path(cell)

        def act():
            fault = self._faults.began('nemesis', OFF, host, [host])
            # Its compute process may be dead just now.
            power = kernel.current().process('power', machine=cloud_module.HYPERVISORS)
            with power.entered():
                hostpower.power_off(path, host)
            self._cloud.fenced[host] = kernel.current().time()
            kernel.current().sleep(seconds)
            self._cloud.fenced.pop(host, None)
            with power.entered():
                hostpower.power_on(path, host)
            self._faults.ended(fault)

        return host, act
