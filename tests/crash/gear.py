"""Kills while volumes and ports of servers are attached, detached and swapped."""

import os

from nova_lite.virt import model
from nova_lite.virt.sim import driver as sim_driver
from tests.crash import killing
from tests.fixtures import attaching

READY_S = 90
# How many volumes and ports a server has more when a saga is done.
MORE = {
    'attach-volume': (1, 0),
    'detach-volume': (-1, 0),
    'swap-volume': (0, 0),
    'attach-interface': (0, 1),
    'detach-interface': (0, -1),
}


class DeviceKilling(killing.Killing):
    """As Killing, for sagas of devices. Each case has a server of its own."""

    def __init__(self, cloud, table):
        super().__init__(cloud, table)
        self._hands = attaching.Attaching(cloud)
        # {server: volume that is to be attached}, {server: what it had}
        self._free, self._had = {}, {}

    def _bring(self, batch):
        self.cloud.wait_for(lambda: self.stage.seen() == {}, 'servers to be gone', READY_S)
        zone = f'nova:{self.stage.home}'
        servers = [
            self.stage.boot_full(case.name, wait=False, availability_zone=zone) for case in batch
        ]
        found = [self.cloud.wait(server, 'ACTIVE') for server in servers]
        for case, server in zip(batch, found, strict=True):
            if case.name in ('attach-volume', 'swap-volume'):
                self._free[server.id] = self._hands.volume()
            self._had[server.id] = self._volumes(server), self._ports(server)
        return found

    def _ask_plainly(self, case, server):
        volumes, ports = self._had[server.id]
        if case.name == 'attach-volume':
            self._hands.attach(server, self._free[server.id], status=None)
        elif case.name == 'detach-volume':
            self._hands.detach(server, volumes[0], status=None)
        elif case.name == 'swap-volume':
            self._hands.migrating(volumes[0])
            path = f'/servers/{server.id}/os-volume_attachments/{volumes[0]}'
            body = {'volumeAttachment': {'volumeId': self._free[server.id]}}
            self.cloud.api('PUT', path, json=body)
        elif case.name == 'attach-interface':
            self._hands.plug(server, net_id=self._hands.network(), status=None)
        else:
            self._hands.unplug(server, ports[0], status=None)

    # ---- what a server has ----

    def _volumes(self, server):
        return sorted(each['volumeId'] for each in self._hands.attachments(server))

    def _ports(self, server):
        return sorted(each['port_id'] for each in self._hands.interfaces(server))

    def _plugged(self, server, kind):
        """Return what the hypervisor has plugged in, asked of no daemon."""
        host = self.stage.home
        path = os.path.join(self.cloud.state_dir, 'guests', host, 'guests.sqlite')
        driver = sim_driver.SimDriver(path, [host], 'instant')
        try:
            guest = driver.get_guest(host, server.id)
        finally:
            driver.close()
        return sorted(device.id for device in guest.spec.devices if device.kind == kind)

    def _in_use(self, server):
        """The volume service's word for it."""
        return sorted(
            volume.id
            for volume in self.cloud.admin.block_storage.volumes()
            if server.id in [each['server_id'] for each in volume.attachments]
        )

    def _bound(self, server):
        """The network service's word for it."""
        return sorted(port.id for port in self.cloud.admin.network.ports(device_id=server.id))

    # ---- afterwards ----

    def _judge(self, case, server, **found):
        outcome = super()._judge(case, server, **found)
        if outcome.survived:
            # What was undone was asked for again, and is done by now.
            problem = self._wrong_devices(case, server)
            outcome = outcome._replace(result=problem or outcome.result)
        self.stage.forget(server)
        return outcome

    def _wrong_place(self, move, server, outcome):
        if outcome == killing.UNDONE:
            has = (self._volumes(server), self._ports(server))
            if has != self._had[server.id]:
                return f'undone, and has {has}'
        return super()._wrong_place(move, server, outcome)

    def _wrong_devices(self, case, server):
        """Return what is wrong with a server whose saga is done; None when nothing is."""
        volumes, ports = self._volumes(server), self._ports(server)
        wanted = [
            len(had) + more for had, more in zip(self._had[server.id], MORE[case.name], strict=True)
        ]
        for what, told, known in (
            ('volumes', volumes, self._plugged(server, model.DeviceKind.VOLUME)),
            ('volumes', volumes, self._in_use(server)),
            ('ports', ports, self._plugged(server, model.DeviceKind.INTERFACE)),
            ('ports', ports, self._bound(server)),
        ):
            if known != told:
                return f'has {what} {told}, others know of {known}'
        if [len(volumes), len(ports)] != wanted:
            return f'has {len(volumes)} volumes and {len(ports)} ports, not {wanted}'
        return None

    def _asked_again(self, case, move, server):
        found = super()._asked_again(case, move, server)
        saga = self.stage.saga(server)
        return found or (None if saga.state == killing.DONE else f'asked again: {saga.state}')
