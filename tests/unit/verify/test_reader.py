"""What the reader of snapshots asks of the neighbours."""

import contextlib

import fixtures

from nova_lite import runtime
from nova_lite.clients import volume
from nova_lite.db.api import cell_mappings
from nova_lite.simcloud import storage
from nova_lite.verify import bounds
from nova_lite.verify import invariants
from nova_lite.verify import reader
from tests.fixtures import database
from tests.fixtures import placement
from tests.unit.clients import neighbours

PAGE, COUNT = 2, 5


class PagesTest(neighbours.NeighbourTestCase):
    """The volume service gives two items at a time."""

    def setUp(self):
        super().setUp()
        self.patch(storage, 'MOST', PAGE)
        api = self.useFixture(database.ApiDatabase())
        cell = self.useFixture(database.CellDatabase())
        values = {'uuid': runtime.new_uuid(), 'name': 'cell1', 'transport_url': 'embedded://'}
        api.write(
            cell_mappings.create,
            {**values, 'database_connection': cell.url, 'disabled': False},
        )
        self.conf.set_override('connection', api.url, 'api_database')
        self.point('placement', self.useFixture(placement.Placement()).url)
        self.volume = volume.Volume(self.conf)
        self.reserved = [self.reserve(number) for number in range(COUNT)]

    def reserve(self, number):
        """A new volume, reserved for a server that does not exist; (volume, attachment)."""
        made = self.volume.create(self.member, size=1, name=f'{number}')['id']
        self.volume.wait_until_ready(self.member, made, timeout_s=60, interval_s=0.01)
        attachment = self.volume.create_attachment(self.member, made, runtime.new_uuid())
        return made, attachment['id']

    def read(self):
        directory = self.useFixture(fixtures.TempDir()).path
        with contextlib.closing(reader.Reader(self.conf, directory, running=False)) as opened:
            return opened.read(self.admin)

    def test_a_finding_on_each_page(self):
        snapshot, requests = self.count_requests(self.read)
        owned = {f'attachment {attachment}' for _volume, attachment in self.reserved}
        found = {each.what for each in invariants.check(snapshot, bounds.Bounds())}
        self.assertEqual(owned, {what for what in found if what.startswith('attachment')})
        self.assertEqual(
            {volume_id for volume_id, _attachment in self.reserved},
            {each['id'] for each in snapshot.volumes},
        )
        pages = [path for _method, path in requests if '/attachments/detail' in path]
        self.assertEqual(1 + -(-COUNT // PAGE), len(pages))
