"""The nemesis: kills and freezes processes, sets clocks and cuts hosts' power.

From an ambush it strikes a process in the middle of its work for a request: at a random
time most processes only wait.
"""

from oslo_context import context

from nova_lite.virt.sim import hostpower
from tests.sim import kernel

AWAY_S = (0.1, 40)
FROZEN_S = (0.5, 90)
LEAPS_S = (-600, -30, 30, 600)
# Some outages of a neighbour last longer than its clients retry.
OUTAGES_S = (20, 300)
# After this time an ambush is given up, and at most so many moments of work are let pass.
AMBUSH_S, MOST_PASSED = 30, 20
WORK = ('db: COMMIT', 'db: committed', 'http: send', 'http: answer', 'bus: put')
DAEMONS = ('super', 'conductor', 'compute', 'scheduler')


class Nemesis:
    """plan: a workload.plan.Plan"""

    def __init__(self, cloud, faults, plan):
        self._cloud, self._faults, self._plan = cloud, faults, plan
        self._stream = kernel.current().stream('nemesis')

    def run(self, until):
        """Do all harm until a virtual time, spread evenly, and mend it."""
        now = kernel.current()
        if self._plan.drift:
            self._let_drift()
        for moment, name, act in self._drawn(now.time(), until):
            now.sleep(max(0.0, moment - now.time()))
            if self._stream.happens(1, name):
                act()
        now.sleep(max(0.0, until - now.time()))
        for process in self._cloud.processes.values():
            process.set_clock()

    def _drawn(self, begin, until):
        """[(virtual time, name, function), ...]; what is drawn does not depend on what happens."""
        kinds = {
            'kill': (self._plan.kills, self._kill),
            'freeze': (self._plan.freezes, self._freeze),
            'leap': (self._plan.leaps, self._leap),
            'power off': (self._plan.hosts_off, self._off),
            'outage': (self._plan.outages, self._outage),
        }
        drawn = []
        for name, (number, draw) in kinds.items():
            for _ in range(number):
                drawn.append((self._stream.uniform(begin, until), name, draw()))
        return sorted(drawn, key=lambda each: each[:2])

    def _victim(self, *kinds):
        return self._stream.choice([name for name in self._cloud.names if name.startswith(kinds)])

    def _kill(self):
        return self._death(self._victim(*self._plan.victims), self._stream.uniform(*AWAY_S))

    def _outage(self):
        return self._death(self._victim('simcloud', 'placement'), self._stream.uniform(*OUTAGES_S))

    def _death(self, name, seconds):
        strike = self._ambush(name)

        def act():
            fault = strike(lambda: self._killed(name))
            kernel.current().sleep(seconds)
            self._cloud.restart(name, lambda: self._faults.ended(fault))

        return act

    def _killed(self, name):
        fault = self._faults.began('nemesis', 'kill', name)
        self._cloud.kill(name)
        return fault

    def _freeze(self):
        name, seconds = self._victim(*self._plan.victims), self._stream.uniform(*FROZEN_S)
        strike = self._ambush(name)

        def act():
            fault = strike(lambda: self._frozen(name))
            kernel.current().sleep(seconds)
            self._cloud.processes[name].thaw()
            self._faults.ended(fault)

        return act

    def _frozen(self, name):
        fault = self._faults.began('nemesis', 'freeze', name)
        self._cloud.processes[name].freeze()
        return fault

    def _ambush(self, name):
        """A function that strikes (calls a function) at once, or when the process works."""
        passed = self._stream.randrange(MOST_PASSED) if self._plan.ambush else None

        def strike(function):
            if passed is None:
                return function()
            now, left, done = kernel.current(), passed, []

            def check(_number, what, _detail):
                nonlocal left
                if done or what not in WORK or not self._is_at_work(name):
                    return
                left -= 1
                if left < 0:
                    done.append(function())

            cancel = now.at_points(check)
            now.block_until(lambda: bool(done), 'ambush', AMBUSH_S)
            cancel()
            return done[0] if done else function()

        return strike

    def _is_at_work(self, name):
        thread = kernel.current().running
        at_work = thread.home is self._cloud.processes.get(name)
        # Neighbours work only when they are asked to.
        return at_work and (not name.startswith(DAEMONS) or context.get_current() is not None)

    def _leap(self):
        name, seconds = self._victim(*DAEMONS, 'api'), self._stream.choice(LEAPS_S)

        def act():
            self._faults.note('nemesis', f'clock leaps by {seconds} s', name, process=name)
            self._cloud.processes[name].set_clock(offset=seconds)

        return act

    def _let_drift(self):
        for name, process in self._cloud.processes.items():
            if not name.startswith('compute'):
                drift = self._stream.uniform(-self._plan.drift, self._plan.drift)
                self._faults.note('nemesis', f'clock drifts by {drift:.3f}', name, process=name)
                process.set_clock(drift=drift)

    def _off(self):
        places = self._cloud.places
        cell = self._stream.choice(places.cell_names)
        host = self._stream.choice(places.hosts(cell))
        seconds = self._stream.uniform(*self._plan.off_s)

        def act():
            fault = self._faults.began('nemesis', 'power off', host)
            with self._cloud.processes[f'compute-{cell}'].entered():
                hostpower.power_off(places.guests_path(cell), host)
            self._cloud.fenced[host] = True
            kernel.current().sleep(seconds)
            del self._cloud.fenced[host]
            with self._cloud.processes[f'compute-{cell}'].entered():
                hostpower.power_on(places.guests_path(cell), host)
            self._faults.ended(fault)

        return act
