"""Administrators: they reset states, delete services and providers, and archive at any time."""

import json
import re

from tests.sim import kernel
from tests.sim.workload import caller as caller_module
from tests.sim.workload import codes
from tests.sim.workload import outside
from tests.sim.world import maintenance

DELETE_SERVICE = 'delete service'
PROVIDERS = '/resource_providers'
HOST, LAUNCHED = 'OS-EXT-SRV-ATTR:host', 'OS-SRV-USG:launched_at'
TASK = 'OS-EXT-STS:task_state'
# How a refusal names the servers with allocations on a host.
ALLOCATED, CONSUMER = (
    'has allocations of',
    re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'),
)
# Tasks of servers whose guests a move removes.
LEAVING = ('shelving_offloading', 'migrating', 'resize_migrated', 'resize_reverting')
# The chance to wait for such a task, or until the servers of a host have been evacuated, how often
# to look for that, and after how many seconds.
PATIENT, LOOKS, LOOK_S = 0.5, 10, 0.3
# The chance to choose a server with a task, or a host that is down.
AIMED = 0.7
OF_STATES = (*(outside.RESET,) * 3, 'archive')
OF_WAITING = ('reset waiting', 'reset waiting', 'archive')
OF_BUILDS = ('reset build', 'reset build', 'reset build', 'archive')
OF_HOSTS = (
    *(DELETE_SERVICE, DELETE_SERVICE, outside.DELETE_PROVIDER),
    *('delete inventory', 'delete traits', 'change aggregate'),
)
OF_RECORDS = ('archive', 'archive', outside.CHANGE_QUOTA, 'change aggregate')
UNMAP_HOST, REPLACE_CELL = 'unmap host', 'replace cell'
OF_MAPPINGS = (*(UNMAP_HOST, REPLACE_CELL) * 3, 'disable cell')
# Seconds in which a cell is not mapped, or is disabled.
UNMAPPED_S = (0.1, 5)
# The chance to wait for a super-conductor that stands still, and for how many seconds.
FROZEN, FROZEN_S = 0.9, 15
# The chance that hosts are discovered at once, and that a cell gets another URL of its database.
DISCOVERS, RESPELLED = 0.15, 0.5
QUOTAS = (0, 1, 2, 3, 20)
QUOTA = f'/os-quota-sets/{caller_module.PROJECT}'
# The chance that a program for maintenance is killed, and after how many of its commits.
KILLED, COMMITS = 0.5, 6


class Administrator:
    """Draws and does one of its operations. caller: a caller.Caller; cloud: a world.cloud.Cloud

    rng: the stream of the operation, set before each
    """

    def __init__(self, caller, ledger, cloud):
        self._caller, self._ledger, self._cloud = caller, ledger, cloud
        self.rng = None

    def _ask(self, what, uuid, method, path, *, body=None, value=None):
        """Send a compute request about an object, and note that."""
        change = self._ledger.outside.begin(what, uuid, value, began=kernel.current().time())
        code, found = self._caller.send(what, method, path, body)
        change.call = self._caller.last
        return code, found

    def reset_state(self, what):
        """Reset the state of a server to active or error, whatever is being done to it.

        Not of one that is on no host: it would be active without a guest.
        """
        servers = self._running()
        if self.rng.random() < PATIENT:
            servers = self._leaving() or servers
        if servers:
            busy = [each for each in servers if each[TASK] is not None]
            uuid = self.rng.choice(busy if busy and self.rng.random() < AIMED else servers)['id']
            self._reset(uuid)

    def _reset(self, uuid):
        state = self.rng.choice(('active', 'active', 'error'))
        body, path = {'os-resetState': {'state': state}}, f'/servers/{uuid}/action'
        self._ask(outside.RESET, uuid, 'POST', path, body=body, value=state)

    def reset_waiting(self, what):
        """Reset the state of a server whose move waits to be confirmed, once there is one."""
        if servers := self._found(lambda each: each['status'] == 'VERIFY_RESIZE'):
            self._reset(self.rng.choice(servers)['id'])

    def reset_build(self, what):
        """Reset the state of a server that is being built, on a host or not, once there is one."""
        if servers := self._found(_is_built, self._listed):
            self._reset(self.rng.choice(servers)['id'])

    def _listed(self):
        """Return all servers, as they are shown."""
        code, found = self._caller.send('servers', 'GET', '/servers/detail?all_tenants=1')
        return found['servers'] if code == 200 else []

    def _running(self):
        """Return the servers that are on a host, as they are shown."""
        return [each for each in self._listed() if each.get(LAUNCHED) and each.get(HOST)]

    def _leaving(self):
        """Wait a while until guests of servers may be removed; return these servers."""
        return self._found(lambda each: each[TASK] in LEAVING)

    def _found(self, is_wanted, listed=None):
        """Wait a while until there are servers of a kind; return these.

        listed: lists those that may be of this kind; None: those that are on a host
        """
        for _ in range(LOOKS):
            if found := [each for each in (listed or self._running)() if is_wanted(each)]:
                return found
            kernel.current().sleep(LOOK_S)
        return []

    # ---- services and providers ----

    def delete_service(self, what):
        """Delete the compute service of a host, which may be up, dead or evacuated."""
        code, found = self._caller.send('services', 'GET', '/os-services?binary=nova-compute')
        if code == 200 and found['services']:
            down = [each for each in found['services'] if self._cloud.is_down(each['host'])]
            if down and self.rng.random() < PATIENT:
                down = self._empty(down) or down
            aimed = down and self.rng.random() < AIMED
            service = self.rng.choice(down if aimed else found['services'])
            host, path = service['host'], f'/os-services/{service["id"]}'
            code, found = self._ask(what, host, 'DELETE', path)
            if code == codes.CONFLICT and self._cloud.is_down(host):
                self._judge(host, json.dumps(found))

    def _empty(self, services):
        """Wait a while until hosts of services have no servers; return those services."""
        for _ in range(LOOKS):
            used = {each[HOST] for each in self._running()}
            if found := [each for each in services if each['host'] not in used]:
                return found
            kernel.current().sleep(LOOK_S)
        return []

    def _judge(self, host, text):
        """Fail if the service of a host without servers is kept for servers that left it."""
        uuids = CONSUMER.findall(text.partition(ALLOCATED)[2])
        elsewhere = [uuid for uuid in uuids if self._is_elsewhere(uuid, host)]
        if uuids and elsewhere == uuids and self._cloud.is_down(host):
            self._ledger.violation(f'the service of {host} is kept for evacuated {uuids}')

    def _is_elsewhere(self, uuid, host):
        """Return whether a server is at rest on another host."""
        code, found = self._caller.send('show', 'GET', f'/servers/{uuid}')
        server = found['server'] if code == 200 else {}
        at_rest = server.get('status') in ('ACTIVE', 'SHUTOFF') and server.get(TASK, '') is None
        return at_rest and server.get(HOST) not in (None, host)

    def delete_provider(self, what):
        self._of_provider(what, '')

    def delete_inventory(self, what):
        self._of_provider(what, '/inventories')

    def delete_traits(self, what):
        self._of_provider(what, '/traits')

    def _of_provider(self, what, part):
        code, found = self._caller.placement('GET', PROVIDERS)
        if code == 200 and found['resource_providers']:
            provider, now = self.rng.choice(found['resource_providers']), kernel.current().time()
            change = self._ledger.outside.begin(what, provider['uuid'], began=now)
            path = f'{PROVIDERS}/{provider["uuid"]}{part}'
            self._caller.placement('DELETE', path, what=what)
            change.call = self._caller.last

    # ---- aggregates and quotas ----

    def change_aggregate(self, what):
        """Add a host to the one aggregate, which is a zone, or remove one from it."""
        code, found = self._caller.send('aggregates', 'GET', '/os-aggregates')
        if code != 200:
            return
        if not found['aggregates']:
            body = {'aggregate': {'name': 'zone', 'availability_zone': 'zone'}}
            self._caller.send('make aggregate', 'POST', '/os-aggregates', body)
            return
        aggregate = found['aggregates'][0]
        host = self.rng.choice(self._cloud.hosts)
        action = 'remove_host' if host in aggregate['hosts'] else 'add_host'
        path = f'/os-aggregates/{aggregate["id"]}/action'
        self._ask(what, host, 'POST', path, body={action: {'host': host}})

    def change_quota(self, what):
        """Change how many servers the project may have, also to fewer than it has."""
        most = self.rng.choice(QUOTAS)
        body = {'quota_set': {'instances': most, 'force': True}}
        self._ask(what, caller_module.PROJECT, 'PUT', QUOTA, body=body, value=most)

    # ---- mappings ----

    def unmap_host(self, what):
        """Delete the mappings of the hosts of a cell, as soon as a server is about to be built."""
        cell = self._await_work()[0]
        for host in self._cloud.places.hosts(cell):
            self._note_unmapped(what, host)
            if maintenance.unmap_host(self._cloud, cell, host) == 0:
                self._ledger.count(what)
        if self.rng.random() < DISCOVERS:
            self._ledger.count('discover hosts')
            maintenance.discover_hosts(self._cloud)

    def replace_cell(self, what):
        """Delete the mapping of a cell once it has no server, and map it again after a while."""
        cells = self._await_work()
        is_aimed = bool(self._cloud.standing)
        for _ in range(1 if is_aimed else LOOKS):
            for cell in cells[:1] if is_aimed else cells:
                for host in self._cloud.places.hosts(cell):
                    self._note_unmapped(what, host)
                if maintenance.unmap_cell(self._cloud, cell) == 0:
                    self._ledger.count(what)
                    kernel.current().sleep(self.rng.uniform(*UNMAPPED_S))
                    spelled = self.rng.random() < RESPELLED
                    maintenance.map_cell(self._cloud, cell, respelled=spelled)
                    return
            kernel.current().sleep(LOOK_S)

    def disable_cell(self, what):
        """Keep the scheduler from choosing hosts of a cell, for a while."""
        cell = self.rng.choice(self._cloud.places.cell_names)
        self._ledger.count(what)
        maintenance.enable_cell(self._cloud, cell, False)
        kernel.current().sleep(self.rng.uniform(*UNMAPPED_S))
        maintenance.enable_cell(self._cloud, cell, True)

    def _note_unmapped(self, what, host):
        """Note that the API may not know a host from now on."""
        self._ledger.outside.begin(what, host, began=kernel.current().time())

    def _await_work(self):
        """Wait a while until a server is about to be built or to move. Return the cells, in order.

        Often a super-conductor stands still just then, which has read the mappings and is about to
        write to the first of these cells.
        """
        cells = self.rng.sample(self._cloud.places.cell_names, len(self._cloud.places.cell_names))
        if self.rng.random() < FROZEN:
            standing = self._cloud.standing
            kernel.current().block_until(lambda: bool(standing), 'super', FROZEN_S)
            return sorted(cells, key=lambda cell: cell not in standing.values())
        for _ in range(LOOKS):
            if any(each['status'] == 'BUILD' or each[TASK] for each in self._listed()):
                break
            kernel.current().sleep(LOOK_S)
        return cells

    # ---- programs ----

    def archive(self, what):
        """Archive and purge the records of deleted servers; the program may be killed."""
        killed = self.rng.random() < KILLED
        self._ledger.count(what)
        maintenance.archive(self._cloud, self.rng.randrange(1, COMMITS) if killed else None)


def _is_built(server):
    return server['status'] == 'BUILD' and server[TASK] != 'deleting'
