"""One history: a cloud, clients that race, a nemesis, and the account at the end."""

import functools
import math

from nova_lite import runtime
from nova_lite.lab.launcher import layout
from tests.sim import kernel
from tests.sim.oracle import changing
from tests.sim.oracle import damage as damage_module
from tests.sim.oracle import ending
from tests.sim.oracle import excuses
from tests.sim.oracle import guests as guests_module
from tests.sim.oracle import hosts
from tests.sim.oracle import leaving
from tests.sim.oracle import limits
from tests.sim.oracle import mapped
from tests.sim.oracle import overtaken
from tests.sim.oracle import placing
from tests.sim.oracle import records
from tests.sim.oracle import repairs as repairs_module
from tests.sim.oracle import waiting
from tests.sim.oracle import watching
from tests.sim.workload import administrators
from tests.sim.workload import caller as caller_module
from tests.sim.workload import client as client_module
from tests.sim.workload import finale
from tests.sim.workload import isolation
from tests.sim.workload import ledger as ledger_module
from tests.sim.workload import outside
from tests.sim.workload import owners
from tests.sim.world import cloud as cloud_module
from tests.sim.world import losses as losses_module
from tests.sim.world import nemesis as nemesis_module
from tests.sim.world import restores

# Histories begin at other moments between two rounds of periodic work.
BEGIN_S = (0, 20)


class History:
    """begun: a world.beginning.Beginning; plan: a workload.plan.Plan"""

    def __init__(self, begun, plan):
        self._begun, self._plan = begun, plan

    def run(self):
        """Live through it; what is found ends it as failed."""
        now, plan = kernel.current(), self._plan
        now.log('plan', str(plan))
        world, cloud = self._begun.world, self._begun.cloud
        self._begun.have(plan)
        ledger = ledger_module.Ledger(
            excuses.Excuses(world.faults, plan.refusals),
            plan.quota,
            now.journal.counts,
            prompt=plan.prompt,
            patient=plan.patient,
            kept_s=plan.options.get('DEFAULT', {}).get('reclaim_instance_interval', 0),
        )
        guests = self._watch(world, cloud.places, ledger)
        repairs = repairs_module.Repairs(now.log, now.time)
        repairs.listen()
        if plan.isolated or plan.divided or plan.pinned:
            operator = caller_module.Caller(world.network, ledger, 'operator', _apis(plan))
            prepare = isolation.prepare if plan.isolated else isolation.divide
            if plan.pinned:
                prepare = functools.partial(isolation.pin, flavors=plan.pinned)
            prepare(operator)
            now.sleep(isolation.REUSE_S)
        now.sleep(now.stream('begin').uniform(*BEGIN_S))
        self._race(cloud, world, ledger, guests)
        with now.process('oracle', machine=cloud_module.HYPERVISORS).entered():
            caller = caller_module.Caller(world.network, ledger, 'oracle', _apis(plan))
            damage = damage_module.Damage(world.faults, ledger.refusals.calls)
            more, explains = self._more(cloud, world, ledger, caller=caller)
            end = ending.Ending(cloud, ledger, caller, repairs=repairs, damage=damage)
            end.add(more, images=plan.images, explains=explains)
            end.check(plan.moments(now.time()))
            if plan.used:
                finale.Finale(cloud, ledger, caller, world.faults).run()
                end.check(plan.moments(now.time()))
            if plan.filled:
                finale.fill(cloud, ledger, caller)
                end.check(plan.moments(now.time()))
            for fault in world.faults.injected:
                if fault.end == math.inf:
                    now.fail(f'{fault.fate} of {fault.process} has not ended')
            if plan.rest_s:
                end.check([now.time() + plan.rest_s])

    def _more(self, cloud, world, ledger, *, caller):
        """Return (further rules for the end, functions that explain findings of `verify`)."""
        if self._plan.administration:
            of_records = records.Records(world, cloud).findings
            return (hosts.Hosts(cloud, caller, ledger.outside).findings, of_records), ()
        if self._plan.left:
            resets = functools.partial(ledger.outside.values, outside.RESET)
            left = leaving.Leaving(kernel.current().journal.counts, resets)
            return (left.findings,), (left.explains,)
        return (), ()

    def _watch(self, world, places, ledger):
        guests = guests_module.Guests([places.guests_path(cell) for cell in places.cell_names])
        world.disk.watch(guests)
        self._watch_owners(world, places)
        for looks, names in self._rules(places, ledger):
            paths = {name: _path(places, name) for name in names}
            if world.databases is None:
                watch = watching.Watch(paths, looks)
            else:
                watch = watching.OnServer(world.databases, paths, looks)
                world.databases.watch(watch)
            world.disk.watch(watch)
        return guests

    @staticmethod
    def _watch_owners(world, places):
        """Watch what former owners of sagas write."""
        rule = overtaken.Overtaken(
            {cell: _path(places, cell) for cell in places.cell_names},
            [places.guests_path(cell) for cell in places.cell_names],
            kernel.current().journal.counts,
        )
        rule.listen()
        world.disk.watch(rule)
        if world.databases is not None:
            world.databases.watch(rule)

    def _rules(self, places, ledger):
        """Yield (rule, the names of the databases that it looks at)."""
        plan, cells = self._plan, places.cell_names
        resets = functools.partial(ledger.outside.values, outside.RESET)
        yield changing.States(resets, left=plan.left), cells
        if 'live_migrate' in plan.operations:
            yield changing.Arrivals(resets), cells
        if plan.groups and plan.policy == 'anti-affinity':
            yield placing.anti_affinity(plan.most_on_host), cells
        elif plan.groups and plan.policy == 'affinity':
            yield placing.affinity, cells
        if plan.single:
            yield placing.single_claims, [layout.PLACEMENT]
        if plan.claimed:
            yield placing.claimed, [layout.PLACEMENT, *cells]
        if plan.isolated:
            yield placing.isolation(isolation.HOST, isolation.TRAIT), cells
        if plan.owning:
            yield placing.one_volume, cells
        if administrators.UNMAP_HOST in plan.administration:
            yield mapped.mapped, (layout.API, *cells)
        if plan.quota:
            yield limits.servers(plan.quota), (layout.API, *cells)

    def _race(self, cloud, world, ledger, guests):
        now, plan = kernel.current(), self._plan
        until = now.time() + plan.minutes * 60
        world.faults.quiet = False
        threads = []
        for number in range(plan.clients):
            who = f'client-{number}'
            with now.process(who).entered():
                caller = caller_module.Caller(world.network, ledger, who, _apis(plan))
                made = client_module.Client(caller, ledger, plan, cloud)
                threads.append(runtime.spawn(made.run, until, name=who))
        threads += self._outsiders(cloud, world, ledger, until)
        if plan.guests_lost:
            caller = caller_module.Caller(world.network, ledger, 'operator', _apis(plan))
            path = cloud.places.guests_path(cloud.places.cell_names[0])
            losses = losses_module.Losses(path, world.faults, caller)
            threads.append(runtime.spawn(losses.run, until, plan.guests_lost, name='losses'))
        nemesis_module.Nemesis(cloud, plan, guests=guests, world=world).run(until)
        world.faults.quiet = True
        for thread in threads:
            thread.join()
        operator = caller_module.Caller(world.network, ledger, 'operator', _apis(plan))
        owners.reboot_all(operator, ledger)
        if plan.denials:
            finale.delete_again(operator, ledger)
        if plan.stored_s and world.databases is None:
            restore = functools.partial(restores.restore, cloud, world.buses, plan.stored_s)
            waiting.judge(operator, ledger, restore)

    def _outsiders(self, cloud, world, ledger, until):
        """Return the threads of owners and administrators, if the plan has such."""
        plan, threads = self._plan, []
        for who, operations, make in (
            ('owner', plan.owning, owners.Owner),
            (
                'administrator',
                plan.administration,
                functools.partial(administrators.Administrator, cloud=cloud),
            ),
        ):
            if operations:
                with kernel.current().process(who).entered():
                    caller = caller_module.Caller(world.network, ledger, who, _apis(plan))
                    times = {'pause_s': plan.outside_s, 'until': until}
                    work = (make(caller, ledger), who, operations)
                    threads.append(runtime.spawn(outside.act, *work, name=who, **times))
        return threads


def _path(places, name):
    return places.database_url(name).removeprefix('sqlite:///')


def _apis(plan):
    return [f'{name}.sim' for name in plan.size.apis]
