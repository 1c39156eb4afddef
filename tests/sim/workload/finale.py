"""The use of servers at the end of a history: rebooted, moved, evacuated and deleted, each by one.

Whatever owners did to their ports, volumes and images: that must be possible. What failed for want
of the only copy of a disk can only be deleted.
"""

import math

from nova_lite import conf as conf_module
from nova_lite.verify import files
from nova_lite.verify import reader as reader_module
from nova_lite.virt.sim import hostpower
from tests.fixtures import filling
from tests.sim import kernel
from tests.sim.workload import codes
from tests.sim.workload import outside
from tests.sim.workload import owners
from tests.sim.world import cloud as cloud_module
from tests.sim.world import places as places_module

HOST, TASK, LAUNCHED = 'OS-EXT-SRV-ATTR:host', owners.TASK, 'OS-SRV-USG:launched_at'
# How servers get where they can be used: {status: (name, action)}.
CONTINUE = {
    'VERIFY_RESIZE': ('confirm', 'confirmResize'),
    'SHELVED': ('unshelve', 'unshelve'),
    'SHELVED_OFFLOADED': ('unshelve', 'unshelve'),
    'PAUSED': ('unpause', 'unpause'),
    'SUSPENDED': ('resume', 'resume'),
    'RESCUE': ('unrescue', 'unrescue'),
}
# Seconds after which a deletion has ended that a neighbour refuses, with the audit that ends it.
REFUSED_S = 240
# Seconds for each of these, and between two looks.
LIMIT_S, LOOK_S = 300, 5


def delete_again(caller, ledger):
    """Delete servers again whose deletion a neighbour refused, now that it does not any more.

    As in nova such a server is in ERROR, with a fault, and its user may delete it again. No
    deletion waits longer than REFUSED_S for a neighbour that refuses it.
    """
    late = kernel.current().time() - REFUSED_S
    for uuid in ledger.gone:
        code, found = caller.send('show', 'GET', f'/servers/{uuid}')
        if code != 200:
            continue
        server = found['server']
        if server['status'] == 'ERROR' and server.get('fault'):
            code, found = caller.send('delete again', 'DELETE', f'/servers/{uuid}')
            if code not in (codes.GONE, 404):
                ledger.violation(f'{uuid} cannot be deleted again: {code}: {found}')
        elif _began(ledger, uuid) < late and server[TASK] is not None:
            ledger.violation(f'{uuid} is {server[TASK]}, and no neighbour refuses that any more')


def fill(cloud, ledger, caller):
    """Give all that hosts have free to servers, and delete these again. cloud: see Finale"""
    conf = conf_module.make_conf(files=[cloud.places.path('etc', f'{cloud.size.apis[0]}.conf')])
    reader = reader_module.Reader(conf, files.of_state_directory(places_module.ROOT))
    try:
        _code, found = caller.neighbour('images', 'GET', '/image/v2/images?name=cirros')
        image = found['images'][0]['id']

        def violation(kind, text):
            ledger.violation(f'{kind}: {text}')

        filling.Filling(caller.send, reader.read, image, violation).run()
    finally:
        reader.close()


def _began(ledger, uuid):
    """Return when the first deletion of a server was asked for."""
    asked = [call.ended for call in ledger.refusals.calls if _deletes(call, uuid)]
    return min(asked, default=math.inf)


def _deletes(call, uuid):
    return call.method == 'DELETE' and call.url.endswith(f'/servers/{uuid}')


class Finale:
    """cloud: a world.cloud.Cloud that is whole; ledger, caller: see client.Client

    faults: a world.faults.Faults. Other servers of a host whose power is cut stop, too
    """

    def __init__(self, cloud, ledger, caller, faults):
        self._cloud, self._ledger, self._caller = cloud, ledger, caller
        self._faults = faults

    def run(self):
        """Use all servers that run, and delete all; a violation says what was not possible."""
        self._free_volumes()
        servers = [self._show(uuid) for uuid in self._ledger.standing()]
        for server in servers:
            if server and server[LAUNCHED] and self._continue(server):
                self._use(server['id'])
        for server in filter(None, servers):
            self._delete(server['id'])

    def _free_volumes(self):
        """Give volumes the statuses that they should have, as an operator does."""
        stuck = self._ledger.outside.done(outside.STICK_VOLUME)
        code, found = self._caller.neighbour('volumes', 'GET', owners.VOLUMES)
        for volume in found['volumes'] if code == 200 else ():
            if volume['id'] in stuck and volume['status'] in owners.STUCK:
                status = 'in-use' if volume['attachments'] else 'available'
                body = {'os-reset_status': {'status': status}}
                path = f'{owners.PROJECT}/volumes/{volume["id"]}/action'
                self._caller.neighbour('free volume', 'POST', path, body)

    def _show(self, uuid):
        code, found = self._caller.send('show', 'GET', f'/servers/{uuid}')
        return found['server'] if code == 200 else None

    def _continue(self, server):
        """Start a server on a host; return False if the owner of its image prevents that."""
        uuid = server['id']
        if server['status'] in CONTINUE:
            self._act(uuid, *CONTINUE[server['status']])
            server = self._rest(uuid, besides=('VERIFY_RESIZE',))
            if server['status'] == 'SHELVED_OFFLOADED':
                if not self._ledger.outside.done(owners.DELETE_IMAGE):
                    self._ledger.violation(f'{uuid} cannot be unshelved: {self._faults(uuid)}')
                return False
        return server[HOST] is not None

    def _use(self, uuid):
        self._act(uuid, 'reboot_hard', 'reboot', {'type': 'HARD'})
        self._require(uuid, 'reboot', 'ACTIVE')
        self._act(uuid, 'migrate', 'migrate')
        self._require(uuid, 'migrate', 'VERIFY_RESIZE')
        self._act(uuid, *CONTINUE['VERIFY_RESIZE'])
        self._require(uuid, 'confirm', 'ACTIVE')
        live = {'host': None, 'block_migration': 'auto'}
        former = self._show(uuid)[HOST]
        self._act(uuid, 'live migrate', 'os-migrateLive', live)
        server = self._require(uuid, 'live migrate', 'ACTIVE')
        if server[HOST] == former:
            self._fail(uuid, 'live migrate', f'it is still on {former}')
        self._evacuate(uuid, server[HOST])

    def _evacuate(self, uuid, host):
        """Evacuate a server from its host, whose power is cut meanwhile."""
        cell = host.partition('-')[0]
        path = self._cloud.places.guests_path(cell)
        power = kernel.current().process('power', machine=cloud_module.HYPERVISORS)
        fault = self._faults.began('finale', 'power off', host, [host])
        with power.entered():
            hostpower.power_off(path, host)
        self._wait_for(host, 'down')
        self._act(uuid, 'evacuate', 'evacuate', {})
        server = self._rest(uuid)
        if server['status'] not in ('ACTIVE', 'SHUTOFF') or server[HOST] == host:
            self._fail(uuid, 'evacuate', f'it is {server["status"]} on {server[HOST]}')
        with power.entered():
            hostpower.power_on(path, host)
        self._faults.ended(fault)
        self._wait_for(host, 'up')

    def _wait_for(self, host, state):
        """Wait until a host counts as up or down."""
        now = kernel.current()
        deadline = now.time() + LIMIT_S
        path = f'/os-services?binary=nova-compute&host={host}'
        while now.time() < deadline:
            code, found = self._caller.send('services', 'GET', path)
            if code == 200 and found['services'][0]['state'] == state:
                return
            now.sleep(LOOK_S)
        self._ledger.violation(f'{host} is not {state}')

    def _delete(self, uuid):
        self._ledger.ending(uuid)
        code, _found = self._caller.send('delete', 'DELETE', f'/servers/{uuid}')
        now = kernel.current()
        deadline = now.time() + LIMIT_S
        while code == codes.GONE and self._show(uuid) and now.time() < deadline:
            now.sleep(LOOK_S)
        if code not in (codes.GONE, 404) or self._show(uuid):
            self._fail(uuid, 'delete', f'{code}')
        self._ledger.gone[uuid] = True

    # ---- requests ----

    def _act(self, uuid, what, action, content=None):
        """Ask for an action until it is accepted: an earlier one may not have ended."""
        path, now = f'/servers/{uuid}/action', kernel.current()
        deadline = now.time() + LIMIT_S
        while True:
            code, found = self._caller.send(what, 'POST', path, {action: content})
            if code in codes.DONE:
                return
            if code != codes.CONFLICT or now.time() >= deadline:
                self._fail(uuid, what, f'{code}: {found}')
            now.sleep(LOOK_S)

    def _rest(self, uuid, besides=()):
        """Return a server when it has no task any more. besides: statuses that are none of rest"""
        now = kernel.current()
        deadline = now.time() + LIMIT_S
        while True:
            server = self._show(uuid)
            if server and server[TASK] is None and server['status'] not in ('MIGRATING', *besides):
                return server
            if now.time() >= deadline:
                self._fail(uuid, 'wait', f'it is {server and (server["status"], server[TASK])}')
            now.sleep(LOOK_S)

    def _require(self, uuid, what, status):
        """Return a server at rest, which must have a status after an action."""
        server = self._rest(uuid, {'VERIFY_RESIZE'} - {status})
        if server['status'] != status:
            self._fail(uuid, what, f'it is {server["status"]}: {server.get("fault")}')
        return server

    def _fail(self, uuid, what, text):
        """Something is not possible, which no volume that its owner made useless explains."""
        self._ledger.violation(f'finally {what} of {uuid}: {text}: {self._faults(uuid)}')

    def _faults(self, uuid):
        """Return what is on record of the failed actions of a server."""
        path = f'/servers/{uuid}/os-instance-actions'
        _code, found = self._caller.send('actions', 'GET', path)
        failed = [each for each in found.get('instanceActions', ()) if each['message']]
        told = []
        for action in failed[:2]:
            _code, found = self._caller.send('action', 'GET', f'{path}/{action["request_id"]}')
            told += [event['details'] for event in found['instanceAction']['events']]
        return '; '.join(filter(None, told))
