"""The end of a chaos test: everything settles, and everything is accounted for."""

from nova_lite import exception
from nova_lite.db.api import sagas
from tests.chaos import caller
from tests.fixtures import filling

SETTLE_S, GONE_S = 240, 240
# Audits have repaired everything by then; sagas that clean up are waited for besides.
AUDITED_S = 90
RUNNING = ('ACTIVE', 'PAUSED', 'RESCUE')
# Power states of a guest that runs or has its memory.
POWERED = (1, 3)


class Accounting:
    """cloud: a CrashCloud or ProcessCloud without faults; api_db: its API database"""

    def __init__(self, cloud, ledger, api_db):
        self._cloud, self._ledger, self._api_db = cloud, ledger, api_db
        self._caller = caller.Caller(cloud, ledger, 'accounting')

    def settle(self):
        """Wait until no server has a task and no saga is open; returns the servers by id."""
        self._wait(lambda: not self._open(), SETTLE_S, 'stuck', self._open)
        return self._servers()

    def _wait(self, condition, seconds, kind, detail):
        try:
            self._cloud.wait_for(condition, kind, seconds)
        except AssertionError as error:
            self._ledger.violation(kind, f'{error}: {detail()}')

    def _servers(self):
        """Return {id: server} as listed; None without an answer."""
        code, found = self._caller.send('list', 'GET', '/servers/detail?all_tenants=1')
        return {each['id']: each for each in found['servers']} if code == 200 else None

    def _states(self):
        """Return [(id, status, task state, fault message), ...] of the listed servers."""
        return [
            (
                uuid,
                each['status'],
                each['OS-EXT-STS:task_state'],
                each.get('fault', {}).get('message'),
            )
            for uuid, each in (self._servers() or {}).items()
        ]

    def _open(self):
        """Return what still goes on."""
        servers = self._servers()
        if servers is None:
            return ['no list']
        found = [
            (uuid, each['status'], each['OS-EXT-STS:task_state'])
            for uuid, each in servers.items()
            if each['OS-EXT-STS:task_state'] or each['status'] == 'BUILD'
        ]
        try:
            rows = self._api_db.read(sagas.every)
        except exception.Unavailable as error:
            return [str(error)]
        return found + [(row.uuid, row.kind, row.state) for row in rows if row.active_for]

    def check(self):
        """Compare what was accepted with lists, guests, quota and `nova-lite verify`."""
        servers = self.settle() or {}
        for uuid in sorted(self._ledger.standing() - {*servers}):
            self._ledger.violation('lost server', f'{uuid} was accepted and is not listed')
        for uuid in sorted(self._ledger.deleted() & {*servers}):
            state = servers[uuid]['status'], servers[uuid].get('fault', {}).get('message')
            self._ledger.violation('undead server', f'{uuid} was deleted and is listed: {state}')
        self._ledger.remarks += [
            f'in ERROR: {state}' for state in self._states() if state[1] == 'ERROR'
        ]
        # The hosts' audit records the power of guests whose host was off.
        self._wait(lambda: not self._misplaced(), AUDITED_S, 'wrong guest', self._misplaced)
        self._quota(servers)
        self._verify('before the deletions')
        return servers

    def _misplaced(self):
        """Return what runs elsewhere than its server is, or does not run as it should."""
        servers, guests = self._servers(), self._cloud.guests()
        if servers is None:
            return ['no list']
        found = []
        for uuid, each in sorted(servers.items()):
            wanted = [each['OS-EXT-SRV-ATTR:host']] if _runs(each) else []
            if each['status'] != 'ERROR' and guests.get(uuid, []) != wanted:
                found.append(f'{uuid} is {each["status"]} on {wanted}, runs on {guests.get(uuid)}')
        return found

    def _quota(self, servers):
        _code, found = self._caller.send('limits', 'GET', '/limits')
        used = found['limits']['absolute']
        wanted = (
            len(servers),
            sum(each['flavor']['vcpus'] for each in servers.values()),
            sum(each['flavor']['ram'] for each in servers.values()),
        )
        told = tuple(used[f'total{what}Used'] for what in ('Instances', 'Cores', 'RAM'))
        if told != wanted:
            self._ledger.violation('wrong quota', f'counted {told}, servers use {wanted}')

    def _verify(self, when):
        for finding in self._cloud.findings(AUDITED_S):
            self._ledger.violation(f'verify {when}', finding)

    def fill(self):
        """Give all that hosts have free to servers, and delete these again."""
        image, violation = self._cloud.image_id('cirros'), self._ledger.violation
        filling.Filling(self._caller.send, self._cloud.snapshot, image, violation).run()

    def delete_all(self):
        """Delete every server; nothing of them may be left anywhere."""
        for uuid in self._servers() or ():
            self._ledger.ending(uuid)
            self._caller.send('delete', 'DELETE', f'/servers/{uuid}')
        self._wait(lambda: self._servers() == {}, GONE_S, 'not deleted', self._states)
        self._wait(lambda: not self._cloud.guests(), GONE_S, 'guests left', self._cloud.guests)
        self._wait(lambda: not self._claimed(), GONE_S, 'allocations left', self._claimed)
        self._verify('after the deletions')
        ports = [
            port.id
            for port in self._cloud.admin.network.ports()
            if (port.device_owner or '').startswith('compute:')
        ]
        if ports:
            self._ledger.violation('ports left', ports)
        held = [
            (volume.id, volume.status)
            for volume in self._cloud.admin.block_storage.volumes()
            if volume.status != 'available'
        ]
        if held:
            self._ledger.violation('volumes left', held)

    def _claimed(self):
        """Return what the project holds in placement, by resource class.

        A scheduler may have claimed for a server that was deleted before it was built; the
        super-conductor releases that after the lease of the build request.
        """
        admin = self._cloud.admin
        answer = admin.session.get(
            f'/usages?project_id={admin.current_project_id}',
            endpoint_filter={'service_type': 'placement'},
            headers={'OpenStack-API-Version': 'placement 1.36'},
        )
        return {name: held for name, held in answer.json()['usages'].items() if held}


def _runs(server):
    """Return whether a server's guest should run; of a resized one its power state says."""
    if server['status'] == 'VERIFY_RESIZE':
        return server['OS-EXT-STS:power_state'] in POWERED
    return server['status'] in RUNNING
