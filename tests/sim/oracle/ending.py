"""The end of a history: all is mended, and after a while nothing may be left to do."""

from nova_lite import conf as conf_module
from nova_lite.db.api import sagas
from nova_lite.verify import age_limits
from nova_lite.verify import files
from nova_lite.verify import reader as reader_module
from nova_lite.verify import settling
from tests.sim import kernel
from tests.sim.oracle import belongings
from tests.sim.oracle import deeds
from tests.sim.workload import outside
from tests.sim.workload import profiles
from tests.sim.world import places as places_module

HOST = deeds.HOST
# How long a snapshot may show what was begun just now.
LOOK_S = 10
# A migration whose server an administrator took out of it is ended by an audit.
UNENDED = 'No saga will end migration'
# A guest that its host refused to start stays there, off.
KEPT = 'Cleaning up guest'
# Seconds after the last disturbance by which all sagas have ended, also those that clean up.
HOUR_S = 3600
BOUNDS = age_limits.AgeLimits(work=60, audit=60, power=60)


class Ending:
    """cloud: a world.cloud.Cloud that is whole; caller: a workload.caller.Caller

    repairs: a repairs.Repairs that has listened; damage: a damage.Damage
    """

    def __init__(self, cloud, ledger, caller, *, repairs, damage):
        self._cloud, self._ledger, self._caller = cloud, ledger, caller
        self._repairs, self._damage = repairs, damage
        self._more, self._images, self._began, self._explains = (), False, 0.0, ()
        self._deeds = deeds.Deeds(caller, ledger)
        self._belongings = belongings.Belongings(ledger, caller)

    def add(self, rules, *, images, explains=()):
        """Judge by further rules, and the images of servers if `images` is true.

        explains: functions that return whether a finding of `verify`, a text, is none

        rules: functions of a verify.reader.Reader that yield what they find
        """
        self._more, self._images, self._explains = rules, images, tuple(explains)

    def check(self, moments):
        """Report what is not as it should be at the last of these times, and at all before.

        moments: virtual times; it is enough that all is well at two of them in a row. At the
            first of several `verify`, which costs most, is not asked: what it finds is no
            failure before it finds it later, too
        """
        path = self._cloud.places.path('etc', f'{self._cloud.size.apis[0]}.conf')
        conf = conf_module.make_conf(files=[path])
        reader = reader_module.Reader(conf, files.of_state_directory(places_module.ROOT))
        well, looks = 0, [self._found for _ in moments]
        self._began = kernel.current().time()
        if len(looks) > 1:
            looks[0] = self._unverified
        try:
            for moment, look in zip(moments, looks, strict=True):
                kernel.current().sleep(max(0, moment - kernel.current().time()))
                found = look(reader)
                kernel.current().log('ending', '; '.join(found) or 'all is well')
                well = 0 if found else well + 1
                if well == 2:
                    return
                if any(isinstance(each, deeds.Lasting) for each in found):
                    break
        finally:
            reader.close()
        if found:
            self._ledger.violation('; '.join(found))

    def _found(self, reader):
        # What is under way is seen without `verify`, which would read again for LOOK_S.
        return self._unverified(reader) or [*self._verify(reader)]

    def _unverified(self, reader):
        found = [*self._sagas(reader), *(self._deeds.of_images() if self._images else ())]
        found += [*self._servers(), *self._repaired()]
        found += map(deeds.Lasting, self._belongings.lost())
        for rule in self._more:
            found += rule(reader)
        if not self._damage.may_leave():
            found += self._belongings.left()
        return found

    def _repaired(self):
        """Yield repairs by audits of what no fault and no administrator had broken."""
        for moment, each in self._repairs.found:
            reset = each.startswith(UNENDED) and self._ledger.outside.resets()
            arrived = each.startswith(KEPT) and self._ledger.excuses.of_refusal(profiles.UNSTARTED)
            left = self._ledger.excuses.of_refusal(profiles.INJECTED)
            undone = self._ledger.outside.is_named(each, moment, outside.DELETE_PROVIDER)
            if not (reset or arrived or left or undone or self._damage.may_need(each, moment)):
                yield deeds.Lasting(f'repaired without a fault: {each}')

    def _verify(self, reader):
        verdict = settling.look(reader, settle_s=LOOK_S, ages=BOUNDS)
        ledger = self._ledger
        explained = (ledger.is_unfilled, ledger.is_detached, ledger.is_protected, *self._explains)
        for each in [*verdict.findings, *verdict.unsettled]:
            if not any(is_explained(str(each)) for is_explained in explained):
                yield f'verify: {each}'

    def _sagas(self, reader):
        """Yield sagas that have not ended, or still clean up. They may take an hour at most."""
        late = kernel.current().time() - self._began >= HOUR_S
        for row in reader.api_db.read(sagas.every, active=True, cleaning=True):
            told = f'open saga: {row.uuid} {row.kind} {row.state} {row.error}'
            yield deeds.Lasting(told) if late else told

    def _servers(self):
        """Yield acknowledged servers that are not there once, and deleted ones that are."""
        code, found = self._caller.send('list', 'GET', '/servers/detail?all_tenants=1')
        if code != 200:
            yield f'list of servers: {code}'
            return
        listed = [each['id'] for each in found['servers']]
        if len({*listed}) < len(listed):
            yield f'listed twice: {sorted(listed)}'
        for uuid in self._ledger.standing():
            if uuid not in listed:
                yield f'lost server {uuid}'
        for uuid in self._ledger.gone:
            if uuid in listed:
                yield f'undead server {uuid}'
        yield from self._kept(listed)
        for server in found['servers']:
            yield from self._state(server)
        yield from self._usage(len(listed))

    def _kept(self, listed):
        """Yield servers that were restored and are not there, and deleted ones that are kept."""
        for uuid, there in self._ledger.deletions.states():
            if there and uuid not in listed:
                yield f'lost server {uuid}, which was restored'
            elif not there:
                code, _found = self._caller.send('show', 'GET', f'/servers/{uuid}')
                if code == 200:
                    yield f'deleted server {uuid} is still kept'

    def _usage(self, number):
        """Yield differences between the usage that counts for the quota and the servers."""
        code, found = self._caller.send('limits', 'GET', '/limits')
        used = found['limits']['absolute']['totalInstancesUsed'] if code == 200 else None
        if used != number:
            yield f'{number} servers, of which {used} count for the quota'

    def _state(self, server):
        told = f'{server["id"]} {server["status"]} {server["OS-EXT-STS:task_state"]}'
        kernel.current().log('server', told)
        if server['OS-EXT-STS:task_state'] is not None or server['status'] in ('BUILD', 'UNKNOWN'):
            yield f'not ended: {told}'
        if server['id'] in self._ledger.lacking and server['status'] != 'ERROR':
            yield f'needs a device that no host has: {told}'
        if server['status'] == 'ERROR' and server[HOST] is None and self._has_run(server):
            yield f'in ERROR on no host: {told}: {server.get("fault")}'
        yield from self._deeds.findings(server)

    def _has_run(self, server):
        """Return whether a server has run, and no administrator said that it is in ERROR."""
        said = self._ledger.outside.values(outside.RESET, server['id'])
        return server['OS-SRV-USG:launched_at'] is not None and 'error' not in said
