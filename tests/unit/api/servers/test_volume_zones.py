"""Volumes of other zones, in every operation that takes a zone or a volume.

Source: reference/nova/create-server 2.2, and answers of nova.
"""

import itertools

import testscenarios

from nova_lite import runtime
from nova_lite.db.api import aggregates
from nova_lite.db.api import request_specs
from nova_lite.db.cell import children
from tests.fixtures import compute_api
from tests.fixtures import neighboured_api
from tests.fixtures import ready_volumes
from tests.unit.api.servers import base

HERE, THERE, DEFAULT = 'here', 'there', 'nova'
OFFLOADED = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
ADMIN = base.ADMIN


def rows(**lists):
    """A scenario for each combination of these attributes' values."""
    combined = itertools.product(*lists.values())
    return [(' '.join(map(str, row)), dict(zip(lists, row, strict=True))) for row in combined]


class ZonesApi(neighboured_api.NeighbouredApi):
    """Host1 is in the zone HERE, host2 in THERE, host3 in DEFAULT."""

    def __init__(self):
        unlimited = [('quota', name, -1) for name in ('instances', 'cores', 'ram')]
        super().__init__(cells=1, overrides=unlimited)

    def _setUp(self):
        super()._setUp()
        self.add_host('host2')
        self.add_host('host3')
        for zone, host in ((HERE, 'host1'), (THERE, 'host2')):
            self.api_db.write(self._add_zone, zone, host)
        disk = {'name': 'mine', 'disk_format': 'raw', 'container_format': 'bare'}
        self.disk = self.image.create(self.ctxt, disk)['id']
        self.image.upload(self.ctxt, self.disk, b'12345')

    def _add_zone(self, connection, zone, host):
        values = {'metadata': {'availability_zone': zone}}
        made = aggregates.create(connection, uuid=runtime.new_uuid(), name=zone, **values)
        aggregates.add_host(connection, made.id, host)


class Case(testscenarios.WithScenarios, base.Case):
    """cross: of [cinder] cross_az_attach; zone: of a volume"""

    api = None
    scenarios = rows(cross=(True, False), zone=(HERE, THERE, DEFAULT))

    def start_api(self):
        return compute_api.shared(self, ZonesApi)

    def setUp(self):
        super().setUp()
        self.api.conf.set_override('cross_az_attach', self.cross, 'cinder')

    def volume(self, zone=None):
        """Make a volume in a zone; return its id."""
        body = {'size': 1, 'availability_zone': zone or self.zone}
        made = self.api.volume.service.call(
            self.api.ctxt, 'POST', '/volumes', json={'volume': body}, as_user=True
        ).json()['volume']['id']
        return ready_volumes.wait(self.api.volume, self.api.ctxt, made)['id']

    def server(self, pinned=None, **values):
        """Put a server onto host1, or what `values` say, with its zone."""
        uuid = self.api.add_server(availability_zone=HERE, **values)
        if pinned:
            self.api.api_db.write(request_specs.change, uuid, availability_zone=pinned)
        return uuid

    def holding(self, uuid, volume):
        """Record a volume as attached to a server."""
        ctxt = self.api.ctxt
        made = self.api.volume.create_attachment(ctxt, volume, uuid, connector={'host': 'host1'})
        self.api.volume.complete_attachment(ctxt, made['id'])
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': volume,
            'attachment_id': made['id'],
        }
        self.api.cell('cell1').db.write(children.create_block_devices, [device])
        return volume

    def check(self, allowed, path, body, *, refusal=400, **options):
        """The request is accepted, or refused."""
        if allowed:
            self.ok('POST', path, body, code=202, **options)
        else:
            self.refused('POST', path, body, code=refusal, text=' zone', **options)


class TestOfServers(Case):
    """A server in the zone HERE, and a volume in `zone`."""

    def allowed(self):
        return self.cross or self.zone == HERE

    def test_attach(self):
        """The state and the pin of the server make no difference."""
        for values, pinned in itertools.product(({}, OFFLOADED), (None, HERE)):
            uuid = self.server(pinned, **values)
            body = {'volumeAttachment': {'volumeId': self.volume()}}
            path = f'/servers/{uuid}/os-volume_attachments'
            self.check(self.allowed(), path, body, version='2.101')

    def test_swap(self):
        uuid = self.server()
        old = self.holding(uuid, self.volume(HERE))
        migrating = {'os-reset_status': {'migration_status': 'migrating'}}
        admin = self.api.context_of(ADMIN)
        path = f'/volumes/{old}/action'
        self.api.volume.service.call(admin, 'POST', path, json=migrating, as_user=True)
        path = f'/servers/{uuid}/os-volume_attachments/{old}'
        body = {'volumeAttachment': {'volumeId': self.volume()}}
        # It is begun, and no process carries it out.
        begun = self.api.call('PUT', path, body, version='2.84', who=ADMIN)
        self.assertEqual(503 if self.allowed() else 400, begun.status_code, begun.text)
        self.assertEqual(self.allowed(), 'zone' not in begun.text)

    def test_unshelve(self):
        """Only a zone that the request names is compared."""
        wanted = self.cross or self.zone == THERE
        for content, allowed in (
            ({'availability_zone': THERE}, wanted),
            ({'availability_zone': THERE, 'host': 'host2'}, wanted),
            ({'availability_zone': None}, True),
            ({'availability_zone': None, 'host': 'host2'}, True),
            ({'host': 'host2'}, True),
            (None, True),
        ):
            uuid = self.server(**OFFLOADED)
            self.holding(uuid, self.volume())
            self.check(
                allowed,
                f'/servers/{uuid}/action',
                {'unshelve': content},
                refusal=409,
                version='2.91',
                who=ADMIN,
            )

    def test_unshelve_without_its_volume(self):
        uuid = self.server(**OFFLOADED)
        volume = self.holding(uuid, self.volume())
        force = {'os-force_delete': {}}
        admin = self.api.context_of(ADMIN)
        path = f'/volumes/{volume}/action'
        self.api.volume.service.call(admin, 'POST', path, json=force, as_user=True)
        self.act(uuid, 'unshelve', {'availability_zone': THERE}, version='2.91')

    def test_moves(self):
        """A host in another zone is a matter of pins, and not of volumes."""
        uuid = self.server()
        self.holding(uuid, self.volume())
        self.act(uuid, 'migrate', {'host': 'host2'}, version='2.56', who=ADMIN)


class TestOfCreation(Case):
    """A server that is asked into `asked`, or with None into no zone."""

    scenarios = rows(cross=(True, False), asked=(None, DEFAULT, HERE), zone=(HERE, THERE, DEFAULT))

    def create(self, allowed, zones, pinned):
        image = self.api.disk
        devices = [{'source_type': 'image', 'destination_type': 'local', 'uuid': image}]
        for zone in zones:
            device = {'source_type': 'volume', 'destination_type': 'volume'}
            devices.append({**device, 'uuid': self.volume(zone)})
        for index, device in enumerate(devices):
            device['boot_index'] = -1 if index else 0
        server = {'name': 'x', 'flavorRef': '42', 'imageRef': image, 'networks': 'none',
                  'block_device_mapping_v2': devices}  # fmt: skip
        if self.asked:
            server['availability_zone'] = self.asked
        self.check(allowed, '/servers', {'server': server}, version='latest')
        if allowed:
            _method, arguments = self.api.super_conductor.calls[-1]
            spec = self.api.api_db.read(request_specs.get, arguments['uuids'][0])
            self.assertEqual(pinned, spec.availability_zone)

    def test_one(self):
        follows = not self.cross and self.asked is None and self.zone != DEFAULT
        allowed = self.cross or self.asked in (None, self.zone)
        self.create(allowed, [self.zone], self.zone if follows else self.asked)

    def test_several(self):
        """All have to be in one zone, in whatever order."""
        for zones in itertools.permutations([self.zone, HERE]):
            follows = not self.cross and self.asked is None and self.zone != DEFAULT
            one = self.zone == HERE and self.asked in (None, HERE)
            self.create(self.cross or one, zones, HERE if follows else self.asked)
