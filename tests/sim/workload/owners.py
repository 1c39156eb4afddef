"""Owners of ports, volumes, snapshots and images: they change these at any time.

They do not ask whether a server uses an object, nor whether something is being done to it.
"""

import json

from tests.sim import kernel
from tests.sim.workload import caller as caller_module
from tests.sim.workload import codes
from tests.sim.workload import devices
from tests.sim.workload import outside

PORTS = devices.PORTS
# Whom a port is given to: a device that is no server.
APPLIANCE = {'device_id': 'appliance', 'device_owner': 'network:appliance'}
NOBODY = {'device_id': '', 'device_owner': ''}
TASK = 'OS-EXT-STS:task_state'
# The chance that a port is chosen of a server that has a task.
AIMED = 0.7
# How deletions of ports are counted whose servers had a task.
DURING = 'during a task'
GIVE, TAKE = 'give port away', 'take port back'
OF_PORTS = ('delete port', 'delete port', 'change port', GIVE, TAKE)
PROJECT = f'/volume/v3/{caller_module.PROJECT}'
VOLUMES = f'{PROJECT}/volumes/detail?all_tenants=1'
# The second is a request to the compute service.
RESET, STEAL = outside.RESET_VOLUME, 'attach volume of another'
DELETE_SNAPSHOT, PROTECT = 'delete snapshot', 'protect image'
# The root disks of servers, which get them back, as their other volumes.
OF_ROOTS = ('reset root', 'reset root', RESET)
OF_VOLUMES = ('delete volume', RESET, 'steal volume', DELETE_SNAPSHOT, outside.STICK_VOLUME)
# The chance that a volume is stolen as soon as it is declared free: its server still has it.
AT_ONCE = 0.5
# Statuses of volumes that somebody works on, or has failed to.
STUCK = ('attaching', 'detaching', 'reserved', 'error')
IMAGES = '/image/v2/images'
# What an image has that was made of a server.
OF_SERVER = 'instance_uuid'
DELETE_IMAGE = 'delete image'
OF_IMAGES = (DELETE_IMAGE, DELETE_IMAGE, PROTECT)
# How often an operator reboots a server again, and after how many seconds each time.
REBOOTS, REBOOT_S = 3, 20


class Owner:
    """Draws and does one of its operations. caller: a caller.Caller

    rng: the stream of the operation, set before each
    """

    def __init__(self, caller, ledger):
        self._caller, self._ledger = caller, ledger
        self.rng = None

    def _change(self, what, uuid, method, path, *, body=None):
        """Change an object, and note that. Return the code of the answer."""
        change = self._ledger.outside.begin(what, uuid, began=kernel.current().time())
        code, _found = self._caller.neighbour(what, method, path, body)
        change.call = self._caller.last
        return code

    # ---- ports ----

    def _port(self):
        """Return a port of some server, mostly of one that has a task; None if there is none."""
        busy = self._busy() if self.rng.random() < AIMED else ()
        code, found = self._caller.neighbour('ports', 'GET', PORTS)
        if code != 200:
            return None
        standing = self._ledger.standing()
        ports = [each for each in found['ports'] if each['device_id'] in standing]
        ports = [each for each in ports if each['device_id'] in busy] or ports
        return self.rng.choice(ports) if ports else None

    def _busy(self):
        """Return the ids of servers that have a task."""
        code, found = self._caller.send('servers', 'GET', '/servers/detail?all_tenants=1')
        servers = found['servers'] if code == 200 else ()
        return [each['id'] for each in servers if each.get(TASK) is not None]

    def _of_port(self, what, method, values=None):
        """Change a port. Return the id of its server; None if nothing was changed."""
        port = self._port()
        if port is None:
            return None
        body, path = values and {'port': values}, f'{PORTS}/{port["id"]}'
        code = self._change(what, port['id'], method, path, body=body)
        return port['device_id'] if code in codes.DONE else None

    def delete_port(self, what):
        """Delete a port, and count whether something was being done to its server."""
        server = self._of_port(what, 'DELETE')
        if server is None:
            return
        code, found = self._caller.send('show', 'GET', f'/servers/{server}')
        if code == 200 and found['server'].get(TASK) is not None:
            self._ledger.count(f'{what} {DURING}')

    def change_port(self, what):
        values = ({'name': f'at {kernel.current().time()}'}, {'security_groups': []})
        self._of_port(what, 'PUT', self.rng.choice(values))

    def give_port_away(self, what):
        self._of_port(what, 'PUT', APPLIANCE)

    def take_port_back(self, what):
        self._of_port(what, 'PUT', NOBODY)

    # ---- volumes and their snapshots ----

    def _volumes(self, wanted):
        """Return volumes. wanted: a function of a volume that says which"""
        code, found = self._caller.neighbour('volumes', 'GET', VOLUMES)
        return [each for each in found['volumes'] if wanted(each)] if code == 200 else []

    def _attached(self, *, boots=False):
        """Return volumes of servers: those from which servers boot, or the others."""
        return self._volumes(
            lambda volume: volume['attachments'] and (volume['bootable'] == 'true') is boots
        )

    def delete_volume(self, what):
        """Delete a free volume, for which a request may be under way."""
        if found := self._volumes(lambda volume: volume['status'] == 'available'):
            volume = self.rng.choice(found)['id']
            self._change(what, volume, 'DELETE', f'{PROJECT}/volumes/{volume}')

    def reset_volume(self, what):
        """Declare a volume of a server free, as `cinder reset-state` does.

        Return the volume as it was; None if no server has one.
        """
        return self._reset(what, self._attached())

    def reset_root(self, _what):
        """Declare a volume free from which a server boots."""
        self._reset(RESET, self._attached(boots=True))

    def _reset(self, what, found):
        if not found:
            return None
        volume = self.rng.choice(found)
        body = {'os-reset_status': {'status': 'available', 'attach_status': 'detached'}}
        path = f'{PROJECT}/volumes/{volume["id"]}/action'
        self._change(what, volume['id'], 'POST', path, body=body)
        return volume

    def stick_volume(self, what):
        """Give a volume the status of work that never ends, whatever is done to it."""
        made = self._ledger.made['volume']
        if found := self._volumes(lambda volume: volume['id'] in made):
            volume = self.rng.choice(found)['id']
            body = {'os-reset_status': {'status': self.rng.choice(STUCK)}}
            self._change(what, volume, 'POST', f'{PROJECT}/volumes/{volume}/action', body=body)

    def steal_volume(self, _what):
        """Declare a volume free, and attach it, or an earlier one, to another server."""
        volume = self.reset_volume(RESET)
        having = {each['server_id'] for each in volume['attachments']} if volume else ()
        servers = [uuid for uuid in self._ledger.standing() if uuid not in having]
        earlier = [*self._ledger.outside.done(RESET)]
        if servers and earlier:
            at_once = volume and self.rng.random() < AT_ONCE
            uuid = volume['id'] if at_once else self.rng.choice(earlier)
            body = {'volumeAttachment': {'volumeId': uuid}}
            path = f'/servers/{self.rng.choice(servers)}/os-volume_attachments'
            self._caller.send(STEAL, 'POST', path, body)

    def delete_snapshot(self, what):
        code, found = self._caller.neighbour('snapshots', 'GET', f'{PROJECT}/snapshots')
        if code == 200 and found['snapshots']:
            snapshot = self.rng.choice(found['snapshots'])['id']
            self._change(what, snapshot, 'DELETE', f'{PROJECT}/snapshots/{snapshot}')

    # ---- images ----

    def _image(self):
        """Return an image that was made of a server; None if there is none."""
        code, found = self._caller.neighbour('images', 'GET', f'{IMAGES}?limit=1000')
        made = [each for each in found['images'] if OF_SERVER in each] if code == 200 else []
        return self.rng.choice(made) if made else None

    def delete_image(self, what):
        if image := self._image():
            mapping = json.loads(image.get('block_device_mapping') or '[]')
            self._ledger.outside.parts |= {each.get('snapshot_id'): True for each in mapping}
            self._change(what, image['id'], 'DELETE', f'{IMAGES}/{image["id"]}')

    def protect_image(self, what):
        """Protect an image from deletion, or take that back."""
        if image := self._image():
            wanted = not image['protected']
            patch = [{'op': 'replace', 'path': '/protected', 'value': wanted}]
            self._change(what, image['id'], 'PATCH', f'{IMAGES}/{image["id"]}', body=patch)


def reboot_all(caller, ledger):
    """Reboot all servers hard after volumes were declared free, as an operator does.

    A reboot compares the volumes of a server if no saga has it. Those that still show such a
    volume are rebooted again.
    """
    freed = ledger.outside.done(RESET)
    servers = ledger.standing() if freed else ()
    for uuid in servers:
        _reboot(caller, uuid)
    for _ in range(REBOOTS):
        servers = [uuid for uuid in servers if _shows(caller, uuid, freed)]
        if servers:
            kernel.current().sleep(REBOOT_S)
        for uuid in servers:
            _reboot(caller, uuid)


def _reboot(caller, uuid):
    path, body = f'/servers/{uuid}/action', {'reboot': {'type': 'HARD'}}
    caller.send('reboot_hard', 'POST', path, body)


def _shows(caller, uuid, volumes):
    """Return whether a server shows one of some volumes."""
    code, found = caller.send('list volumes', 'GET', f'/servers/{uuid}/os-volume_attachments')
    shown = found['volumeAttachments'] if code == 200 else ()
    return any(each['volumeId'] in volumes for each in shown)
