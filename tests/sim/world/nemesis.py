"""The nemesis: kills and freezes processes, sets clocks and cuts hosts' power."""

from nova_lite.virt.sim import hostpower
from tests.sim import kernel

AWAY_S = (0.1, 40)
FROZEN_S = (0.5, 90)
LEAPS_S = (-600, -30, 30, 600)


class Nemesis:
    """plan: a workload.plan.Plan"""

    def __init__(self, cloud, faults, plan):
        self._cloud, self._faults = cloud, faults
        self._rng = kernel.current().stream('nemesis')
        self._acts = (
            [self._kill] * plan.kills
            + [self._freeze] * plan.freezes
            + [self._leap] * plan.leaps
            + [self._off] * plan.hosts_off
        )

    def run(self, until):
        """Do all harm until a virtual time, spread evenly, and mend it."""
        now = kernel.current()
        begin = now.time()
        moments = sorted(self._rng.uniform(begin, until) for _act in self._acts)
        self._rng.shuffle(self._acts)
        for moment, act in zip(moments, self._acts, strict=True):
            now.sleep(max(0.0, moment - now.time()))
            act()
        now.sleep(max(0.0, until - now.time()))
        for process in self._cloud.processes.values():
            process.set_clock()

    def _victim(self, *kinds):
        names = [name for name in self._cloud.names if name.startswith(kinds)]
        return self._rng.choice([name for name in names if name in self._cloud.processes])

    def _kill(self):
        now = kernel.current()
        name = self._victim('super', 'conductor', 'compute', 'scheduler', 'api')
        self._faults.note('nemesis', 'kill', name)
        self._cloud.kill(name)
        now.sleep(self._rng.uniform(*AWAY_S))
        self._cloud.restart(name)

    def _freeze(self):
        name = self._victim('super', 'conductor', 'compute', 'scheduler')
        self._faults.note('nemesis', 'freeze', name)
        process = self._cloud.processes[name]
        process.freeze()
        kernel.current().sleep(self._rng.uniform(*FROZEN_S))
        process.thaw()

    def _leap(self):
        name = self._victim('super', 'conductor', 'compute', 'scheduler', 'api')
        seconds = self._rng.choice(LEAPS_S)
        self._faults.note('nemesis', f'clock leaps by {seconds} s', name)
        self._cloud.processes[name].set_clock(offset=seconds)

    def _off(self):
        places = self._cloud.places
        cell = self._rng.choice(places.cell_names)
        host = self._rng.choice(places.hosts(cell))
        self._faults.note('nemesis', 'power off', host)
        hostpower.power_off(places.guests_path(cell), host)
        kernel.current().sleep(self._rng.uniform(*AWAY_S))
        hostpower.power_on(places.guests_path(cell), host)
