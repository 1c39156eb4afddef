"""The defects: what each does, in which theme it is looked for, how it is put back."""

from tests.sim.defects import answers
from tests.sim.defects import defect
from tests.sim.defects import neighbours
from tests.sim.defects import operators
from tests.sim.defects import outsiders
from tests.sim.defects import requests
from tests.sim.defects import together

Defect = defect.Defect

DEFECTS = (
    Defect(
        'audit-destroys-unshelve',
        "the host's audit destroys the guest of an unshelve that takes longer than its grace",
        'slow',
        (
            (
                'conductor/host_reports.py',
                'for row in migrations.in_progress(connection, host))',
                'for row in migrations.in_progress(connection, host)\n'
                "        if row.migration_type != 'unshelve')",
            ),
            ('compute/audit.py', 'guest.uuid, key=key, seen=guest)', 'guest.uuid, key=key)'),
        ),
    ),
    Defect(
        'audit-acts-on-stale-guests',
        'the power audit believes guests that it listed before it read their records',
        'power',
        (
            (
                'compute/audit.py',
                'busy = self._site.jobs.keys()\n        promised',
                'busy = set()\n        promised',
            ),
            (
                'compute/power_audit.py',
                "power_state = _power_of(self._find(record['node'], uuid))\n            if _runs",
                'power_state = _power_of(guest)\n            if _runs',
            ),
        ),
    ),
    Defect(
        'group-not-checked-at-build',
        "a build believes the scheduler's old answer about its server group",
        'groups',
        (
            (
                'conductor/build_reports.py',
                'group_places.check(connection, instance_uuid, host, group)\n    instances.update(',
                'instances.update(',
            ),
        ),
    ),
    Defect(
        'group-members-that-move-unseen',
        'members of a server group that are on their way to a host do not count there',
        'groups',
        (
            (
                'db/cell/group_places.py',
                'found[uuid].update(host for host in ends if host is not None)',
                'pass',
            ),
        ),
    ),
    Defect(
        'unknown-commit-repeated',
        'a transaction whose COMMIT has an unknown outcome is made again without a look',
        'database',
        (
            (
                'db/transactions.py',
                'if ended and writes and errors.may_have_committed(error):',
                'if False and errors.may_have_committed(error):',
            ),
        ),
    ),
    Defect(
        'database-errors-not-classified',
        'database errors other than a lost connection are taken for defects',
        'database',
        (
            (
                'db/errors.py',
                'return _MARIADB.get(number)',
                'return _MARIADB.get(number) if number in (1213, 2006, 2013) else None',
            ),
            (
                'db/errors.py',
                'return _number(cause) in _MARIADB_READ_ONLY or',
                'return False and',
            ),
            (
                'db/transactions.py',
                'if ended and writes and errors.may_have_committed(error):',
                'if ended and writes and kind and errors.may_have_committed(error):',
            ),
        ),
    ),
    Defect(
        'pivot-undone',
        'a pivot that failed with an unknown error is undone, though it may have taken place',
        'database',
        (
            (
                'saga/run.py',
                'or (index == self.progress.pivot and failures.is_unknown(error))',
                '',
            ),
            (
                'db/transactions.py',
                'if ended and writes and errors.may_have_committed(error):\n'
                '            raise self._unavailable(error, may_have_committed=True) from error',
                'if ended and writes and errors.may_have_committed(error):\n            raise error',
            ),
        ),
    ),
    Defect(
        'one-host-starves-all',
        'sagas that wait for a host that hangs may occupy all threads',
        'cells',
        (
            (
                'saga/queue.py',
                'return all(self._used[lane] < self._limit(lane, late) for lane in lanes)',
                'return True',
            ),
        ),
    ),
    Defect(
        'clean-up-forgotten',
        'what a saga could not clean up after its pivot is not tried again',
        'neighbours',
        (
            (
                'saga/run.py',
                'self._note(step_module.GIVEN_UP, step, failures.describe(error))\n'
                '        cleaning.add(self.saga, step, failures.describe(error))',
                'self._note(step_module.GIVEN_UP, step, failures.describe(error))',
            ),
        ),
    ),
    Defect(
        'reservations-without-intent',
        'volumes are reserved for new servers before anything on record says so',
        'boots',
        (
            (
                'api/servers/create_reserve.py',
                'self._req.app.api_db.write(\n'
                '                build_requests.intend, self._intents(), lease_s=self._lease_s\n'
                '            )',
                'pass',
            ),
        ),
    ),
    Defect(
        'leases-by-own-clock',
        'leases and alarms are compared by the clock of each process',
        'clocks',
        (('db/database_clock.py', 'runtime.database_now() +', 'runtime.now() +'),),
    ),
    Defect(
        'host-returns-as-if-nothing-had-been',
        'a host that slept is up again before it has removed what was evacuated from it',
        'evacuations',
        (
            (
                'compute/evacuated.py',
                'if runtime.boottime() - self._heard > self._site.conf.service_down_time:',
                'if False:',
            ),
            (
                'conductor/host_reports.py',
                'if left:\n        disabled',
                'if False:\n        disabled',
            ),
        ),
    ),
    Defect(
        'evacuation-checked-once',
        'that the source of an evacuation is down is not looked at again when it begins',
        'evacuations',
        (
            (
                'db/cell/moves.py',
                'if down := order.down:\n        services',
                'if False:\n        services',
            ),
            (
                'conductor/host_reports.py',
                'if left:\n        disabled',
                'if False:\n        disabled',
            ),
        ),
    ),
    Defect(
        'hosts-obey-former-owners',
        'hosts carry out late calls of a super-conductor from which a saga was taken over',
        'crossing',
        (('compute/fence.py', 'if ctxt.saga is None or ctxt.epoch is None:', 'if True:'),),
    ),
    Defect(
        'cells-obey-former-owners',
        'cells make late changes of a super-conductor from which a saga was taken over',
        'crossing',
        (
            ('db/cell/fence.py', 'if ctxt.saga is not None:', 'if False:'),
            ('db/cell/fence.py', 'if ctxt.saga is None or ctxt.epoch is None:', 'if True:'),
        ),
    ),
    Defect(
        'late-begin-not-fenced',
        'the first transaction of a request may come after its saga has ended',
        'ambushes',
        (('lifecycle/intents.py', 'epochs.hold(connection, intent.uuid, 0)', 'pass'),),
    ),
    Defect(
        'withdrawn-forgotten-at-once',
        'a deleted build is forgotten while a scheduler may still claim for it',
        'boots',
        (
            (
                'superconductor/audits/disposals.py',
                'age_s = interface.LONG + world.conf.conductor.build_lease_s',
                'age_s = 0',
            ),
        ),
    ),
    Defect(
        'former-choice-stays-claimed',
        'who takes over a move leaves the claim on a host that was chosen before',
        'ambushes',
        (
            (
                'clients/exchanges.py',
                "if found and holdings.Holding(former).covers(request['allocations']):",
                'if found:',
            ),
        ),
    ),
    Defect(
        'claim-of-successor-deleted',
        'a conductor that was frozen deletes what another one has claimed for a build since',
        'ambushes',
        (
            (
                'conductor/reschedule.py',
                'held = self._placement.holding(ctxt, row.uuid)',
                'held = self._placement.delete_allocations(ctxt, row.uuid, force=True) and None',
            ),
        ),
    ),
    Defect(
        'reboot-with-old-devices',
        'a hard reboot makes the guest again with the devices of when it was asked for',
        'devices',
        (
            (
                'compute/manager.py',
                "self._act(ctxt, host, instance, f'reboot_{reboot_type.lower()}')",
                'found = self.site.conductor.instance_records(\n'
                '            ctxt, host=host, instance_uuid=instance.uuid\n'
                '        )\n'
                '        spec = guests.spec_of(\n'
                "            self.conf, found['instance'], block_devices=found['block_devices']\n"
                '        )\n'
                "        name = f'reboot_{reboot_type.lower()}'\n"
                '        start = functools.partial(\n'
                '            self.site.driver.change_power, action=power.ACTIONS[name].power, spec=spec\n'
                '        )\n'
                "        start = start if 'hard' in name else None\n"
                '        work = power.act(self.site, ctxt, host, instance, name=name, start=start)\n'
                '        self._run(host, instance, name, work)',
            ),
            # What a later release does about reboots that began before a detachment ended.
            (
                'moves/parts/guest_devices.py',
                'waits = self._reconcile_saga(running=name, **options)',
                'waits = None',
            ),
        ),
    ),
    *requests.DEFECTS,
    *outsiders.DEFECTS,
    *answers.DEFECTS,
    *neighbours.DEFECTS,
    *operators.DEFECTS,
    *together.DEFECTS,
)


def put_back(defect, read, write):
    """Edit the files of a defect: read(file), write(file, text).

    Raises ValueError when a text is not there exactly once: the code has changed since.
    """
    for file, old, new in defect.edits:
        text = read(file)
        if text.count(old) != 1:
            raise ValueError(f'{defect.name}: {file} has {text.count(old)} times: {old}')
        write(file, text.replace(old, new))
