"""Racing clients: each chooses servers and operations by its own seeded generator."""

import itertools

from tests.sim import kernel
from tests.sim.workload import caller as caller_module
from tests.sim.workload import codes
from tests.sim.workload import consoles
from tests.sim.workload import deletions
from tests.sim.workload import devices
from tests.sim.workload import isolation
from tests.sim.workload import labels
from tests.sim.workload import operations

# The chance to ask for something that the server's status does not allow.
SENSELESS = 0.08
# The chance to leave a server alone while its status allows nothing.
PATIENT = 0.8
IMAGES = '/image/v2/images'
HOST = 'OS-EXT-SRV-ATTR:host'
# The last version in which a host can be forced.
FORCING = 'compute 2.67'
# The type of a backup, and how many of it are kept.
BACKUPS = (('daily', 1), ('daily', 1), ('daily', 2), ('weekly', 1))
# The chance that a server is evacuated whose host has been off for as long as makes it down.
RESCUED = 0.8
# The chance to ask for it before that time.
EARLY = 0.15
# Types of ports that need a device.
PCI = ('direct', 'vdpa', 'macvtap')
# The chance to choose one of the servers that are kept after their deletion.
RESTORED = 0.4


class Client:
    """One racing client, run in a thread.

    plan: a plan.Plan, says how many there are of what
    cloud: a world.cloud.Cloud
    """

    def __init__(self, caller, ledger, plan, cloud):
        self._caller, self._ledger, self._plan = caller, ledger, plan
        self._cloud = cloud
        self._asks = kernel.current().stream(f'asks {caller.who}')
        self._rng = None
        self._made = 0
        self._devices = devices.Devices(
            caller, isolation.PORTS if plan.ports and plan.pinned else ()
        )
        self._image = self._other_image = self._group = None

    def run(self, until):
        """Do one thing after the other until a virtual time.

        Each has a stream of its own: where one is left out, the others remain the same.
        """
        now = kernel.current()
        for number in itertools.count():
            now.sleep(self._asks.expovariate(1 / self._plan.pause_s))
            if now.time() >= until:
                return
            if self._asks.happens(1, 'operation'):
                self._rng = now.stream(f'{self._caller.who} {number}')
                self._once()

    def _once(self):
        if self._image is None and not self._look_around():
            return
        servers = self._ledger.standing()
        if self._rng.random() < self._plan.lists:
            self._list()
            return
        if not servers or (
            len(servers) < self._plan.servers and self._rng.random() < self._plan.creates
        ):
            self._create()
            return
        kept = self._ledger.deletions.kept()
        if kept and self._rng.random() < RESTORED:
            servers = kept
        uuid = self._rng.choice(servers)
        code, found = self._caller.send('show', 'GET', f'/servers/{uuid}')
        if code != 200:
            if code == 404 and self._ledger.must_be_there(uuid):
                self._ledger.violation(f'lost server {uuid}: GET answered 404')
            return
        self._caller.look = caller_module.Look(found['server'], self._caller.last.began)
        host = found['server'].get(HOST)
        if self._plan.apart and host:
            self._ledger.cells[uuid] = host.partition('-')[0]
        self._operate(found['server'])
        self._check_refusal(found['server'])

    def _check_refusal(self, before):
        """Show a server again whose state may not be why the last request was refused."""
        refusals, who = self._ledger.refusals, self._caller.who
        if not refusals.is_doubtful(who):
            return
        code, found = self._caller.send('show again', 'GET', f'/servers/{before["id"]}')
        after = found['server'] if code == 200 else None
        if wrong := refusals.settled(who, before, after):
            self._ledger.violation(wrong)

    def _look_around(self):
        code, found = self._caller.neighbour('images', 'GET', IMAGES)
        if code == 200:
            wanted = {each['name']: each['id'] for each in found['images']}
            code, found = self._caller.neighbour('networks', 'GET', '/network/v2.0/networks')
        if code != 200:
            return False
        networks = [each['id'] for each in found['networks'] if each['name'] == 'shared']
        self._image, self._other_image = wanted['cirros'], wanted['debian']
        self._devices.network = networks[0] if networks else None
        return not self._plan.groups or self._find_group()

    def _find_group(self):
        """Find the one group that all clients use; the first client creates it."""
        code, found = self._caller.send('groups', 'GET', '/os-server-groups')
        if code != 200:
            return False
        if not found['server_groups']:
            group = {'name': 'group', 'policy': self._plan.policy}
            if self._plan.most_on_host > 1 and self._plan.policy == 'anti-affinity':
                group['rules'] = {'max_server_per_host': self._plan.most_on_host}
            body = {'server_group': group}
            self._caller.send('make group', 'POST', '/os-server-groups', body)
            return False
        self._group = min(group['id'] for group in found['server_groups'])
        return True

    def _operate(self, server):
        if self._is_lost(server) and self._rng.random() < RESCUED:
            self._do_evacuate(server)
            return
        names = operations.ALLOWED.get(server['status'], ())
        if self._rng.random() < SENSELESS:
            names = operations.EVERY
        elif not names and self._rng.random() < PATIENT:
            # It is being built or on its way.
            return
        names = [name for name in names if name in self._plan.operations]
        if not names and not self._plan.deletes:
            return
        if not names or self._rng.random() < self._plan.deletes:
            name = 'delete'
        else:
            name = self._rng.choice(names)
        if name in devices.OPERATIONS:
            getattr(self._devices, name)(server, self._rng)
        elif name in operations.SIMPLE:
            self._act(server, name, *operations.SIMPLE[name])
        else:
            getattr(self, f'_do_{name}')(server)

    def _act(self, server, what, action, content=None):
        path = f'/servers/{server["id"]}/action'
        self._caller.send(what, 'POST', path, {action: content})

    # ---- servers come and go ----

    def _create(self):
        self._made += 1
        network = self._devices.network
        networks = [{'uuid': network}] if network else 'none'
        server = {
            'name': f'{self._caller.who}-{self._made}',
            'imageRef': self._image,
            'flavorRef': self._rng.choice(self._plan.flavors),
            'networks': self._rng.choice([networks if self._plan.networked else 'none', networks]),
        }
        room = self._plan.servers - len(self._ledger.standing())
        many = self._rng.random() < 0.15 and room > 1
        if many:
            server |= {'min_count': 2, 'max_count': 2, 'return_reservation_id': True}
        elif self._rng.random() < self._plan.booted:
            root = {'boot_index': 0, 'source_type': 'image', 'uuid': self._image}
            volume = {'destination_type': 'volume', 'volume_size': 1, 'delete_on_termination': True}
            server['block_device_mapping_v2'] = [{**root, **volume}]
        body = {'server': server}
        if self._group and self._rng.random() < self._plan.groups:
            body['os:scheduler_hints'] = {'group': self._group}
        if not many and self._rng.random() < self._plan.volumes:
            self._give_volume(server)
        # Other plans draw nothing for it, so that their histories do not depend on it.
        if self._plan.ports and not many and self._rng.random() < self._plan.ports:
            self._give_port(server)
        lacking = self._plan.lacking and self._rng.random() < self._plan.lacking
        if lacking and not self._require_device(server, many=many):
            return
        host = self._request_host(server) if self._rng.random() < self._plan.requested else None
        code, found = self._caller.send('create', 'POST', '/servers', body)
        if code != 202:
            return
        if many:
            path = f'/servers?reservation_id={found["reservation_id"]}'
            code, found = self._caller.send('list', 'GET', path)
            made = [each['id'] for each in found.get('servers', ())]
            if len(made) != server['max_count'] and not self._may_be_wrong():
                self._ledger.violation(f'of two servers made at once these are listed: {made}')
            for each in made:
                self._ledger.accepted(each, host)
        else:
            self._ledger.accepted(found['server']['id'], host, lacking=lacking)

    def _require_device(self, server, *, many):
        """Give a new server a device that no host has; return whether that was done.

        many: whether several servers are asked for, which cannot have one port
        """
        if self._rng.random() < 0.5 and not many:
            port = self._devices.make_port(self._rng, PCI)
            server['networks'] = [{'port': port}]
            return port is not None
        name = f'{self._caller.who}-{self._made}'
        flavor = {'id': name, 'name': name, 'vcpus': 1, 'ram': 64, 'disk': 1}
        specs = {'extra_specs': {'resources:VGPU': '1'}}
        made, _found = self._caller.send('make flavor', 'POST', '/flavors', {'flavor': flavor})
        path = f'/flavors/{name}/os-extra_specs'
        given, _found = self._caller.send('make flavor', 'POST', path, specs)
        server['flavorRef'] = name
        return made == given == 200

    def _list(self):
        """Read all pages of a list: who is there all the time must be seen once."""
        before, seen, path = self._ledger.standing(), [], '/servers?all_tenants=1'
        limit, marker, wrong = self._rng.choice((1, 2, 1000)), '', False
        while True:
            code, found = self._caller.send('list', 'GET', f'{path}&limit={limit}{marker}')
            wrong |= self._may_be_wrong()
            if code != 200:
                # The marker may be gone.
                return
            seen += [each['id'] for each in found['servers']]
            if len(found['servers']) < limit:
                break
            marker = f'&marker={seen[-1]}'
        if wrong:
            return
        after = self._ledger.standing()
        for uuid in before:
            if uuid in after and seen.count(uuid) != 1:
                self._ledger.violation(f'{uuid} is {seen.count(uuid)} times in a list by {limit}')

    def _may_be_wrong(self):
        """Return whether a fault excuses that the last answer is incomplete."""
        excuses, call = self._ledger.excuses, self._caller.last
        return excuses.of_call(call) or excuses.of_blackout(call)

    def _request_host(self, server):
        """Name a host for it, or the one node of a host; the host."""
        host = self._rng.choice(self._cloud.hosts)
        server[self._rng.choice(('host', 'hypervisor_hostname'))] = host
        return host

    def _give_volume(self, server):
        volume = self._devices.make_volume()
        if volume is None:
            return
        root = {'boot_index': 0, 'source_type': 'image', 'destination_type': 'local'}
        data = {'boot_index': -1, 'source_type': 'volume', 'destination_type': 'volume'}
        server['block_device_mapping_v2'] = [
            {**root, 'uuid': self._image},
            {**data, 'uuid': volume},
        ]

    def _give_port(self, server):
        port = self._devices.make_port(self._rng) if self._devices.network else None
        if port is not None:
            server['networks'] = [{'port': port}]

    def _do_delete(self, server):
        uuid = server['id']
        self._ledger.ending(uuid)
        code, _found = self._caller.send('delete', 'DELETE', f'/servers/{uuid}')
        if code in (204, 404):
            self._ledger.gone[uuid] = True
        call = self._caller.last
        keeps = deletions.is_kept(server) and not self._ledger.has_rival(uuid, call)
        self._ledger.deletions.answered(uuid, call, keeps=keeps)

    def _do_force_delete(self, server):
        self._act(server, deletions.FORCE, 'forceDelete')
        self._ledger.deletions.answered(server['id'], self._caller.last)

    def _do_restore(self, server):
        self._act(server, deletions.RESTORE, 'restore')
        if self._caller.last.code not in codes.REFUSALS:
            self._ledger.gone.pop(server['id'], None)
        self._ledger.deletions.answered(server['id'], self._caller.last)

    # ---- actions with a body ----

    def _do_resize(self, server):
        flavor = {'flavorRef': self._rng.choice(self._plan.flavors)}
        self._act(server, 'resize', 'resize', flavor)

    def _do_cross(self, server):
        self._act(server, 'cross', 'migrate', {'host': self._rng.choice(self._cloud.hosts)})

    def _do_migrate(self, server):
        host = self._target()
        if host is None:
            self._act(server, 'migrate', 'migrate')
        else:
            self._act(server, 'migrate to host', 'migrate', {'host': host})

    def _do_live_migrate(self, server):
        host = self._target(server)
        content = {'host': host, 'block_migration': 'auto'}
        if host is None:
            self._act(server, 'live migrate', 'os-migrateLive', content)
        else:
            self._act_to_host(server, 'live migrate', 'os-migrateLive', content)

    def _do_evacuate(self, server):
        if server.get(HOST) not in self._cloud.fenced:
            return
        if not self._cloud.is_down(server[HOST]) and self._rng.random() > EARLY:
            return
        host = self._target(server)
        if host is None:
            self._act(server, 'evacuate', 'evacuate', {})
        else:
            self._act_to_host(server, 'evacuate', 'evacuate', {'host': host})

    def _do_unshelve(self, server):
        host = self._target() if server['status'] == 'SHELVED_OFFLOADED' else None
        if host is None:
            self._act(server, 'unshelve', 'unshelve')
        else:
            self._act(server, 'unshelve to host', 'unshelve', {'host': host})

    def _target(self, server=None):
        """Return a host to name for a move; None to leave the choice to the scheduler.

        server: one that cannot leave its cell, of which another host is mostly named. A server
            whose cell does not answer is shown without its host
        """
        if self._rng.random() >= self._plan.targets:
            return None
        hosts = self._cloud.hosts
        if server is not None and self._rng.random() >= SENSELESS:
            hosts = self._cloud.others_in_cell(server.get(HOST)) or hosts
        return self._rng.choice(hosts)

    def _act_to_host(self, server, what, action, content):
        """Name a host that the scheduler checks, or force it where the plan allows that."""
        if self._plan.forces and self._rng.random() < 0.5:
            path, body = f'/servers/{server["id"]}/action', {action: {**content, 'force': True}}
            self._caller.send(f'{what} by force', 'POST', path, body, version=FORCING)
        else:
            self._act(server, f'{what} to host', action, content)

    def _is_lost(self, server):
        """Return whether a server is on a host that counts as down."""
        down = self._cloud.is_down(server.get(HOST))
        return down and 'evacuate' in self._plan.operations

    def _do_rebuild(self, server):
        image = {'imageRef': self._rng.choice((self._image, self._other_image))}
        self._act(server, 'rebuild', 'rebuild', image)

    def _do_snapshot(self, server):
        self._act(server, 'snapshot', 'createImage', {'name': f'{self._caller.who}-image'})

    def _do_backup(self, server):
        kind, kept = self._rng.choice(BACKUPS)
        content = {'name': f'{self._caller.who}-{kind}', 'backup_type': kind, 'rotation': kept}
        self._act(server, 'backup', 'createBackup', content)

    def _do_rename(self, server):
        text = f'by {self._caller.who} at {kernel.current().time()}'
        kind = self._rng.choice([*labels.LABELS])
        label = labels.LABELS[kind]
        path = f'/servers/{server["id"]}{label.path}'
        self._caller.send(label.what, label.method, path, label.body(text))
        self._ledger.labels.written(server['id'], kind, text, self._caller.last)

    def _do_console(self, server):
        consoles.ask(self._caller, self._ledger, server)

    def _migration(self, server):
        path = f'/servers/{server["id"]}/migrations'
        _code, found = self._caller.send('migrations', 'GET', path)
        running = found.get('migrations') or [None]
        return running[0] and f'{path}/{running[0]["id"]}'

    def _do_abort(self, server):
        if path := self._migration(server):
            self._caller.send('abort', 'DELETE', path)

    def _do_force(self, server):
        if path := self._migration(server):
            self._caller.send('force', 'POST', f'{path}/action', {'force_complete': None})
