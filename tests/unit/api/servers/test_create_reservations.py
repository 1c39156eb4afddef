"""Volumes of new servers whose request is killed, frozen or slow before they are accepted."""

import types

from nova_lite import exception
from nova_lite.api.servers import create_accept
from nova_lite.api.servers import create_reserve
from nova_lite.db import database_clock
from nova_lite.db.api import build_requests
from nova_lite.db.api import models
from nova_lite.superconductor.audits import disposals
from tests.fixtures import api_neighbours
from tests.unit.api.servers import create_base

TABLE = models.BuildRequest.__table__
FIELDS = {
    'imageRef': create_base.ABSENT,
    'block_device_mapping_v2': [
        {
            'source_type': 'volume',
            'uuid': api_neighbours.VOLUME_ID,
            'boot_index': 0,
            'delete_on_termination': True,
        }
    ],
    'max_count': 2,
}


class ReservationTest(create_base.Case):
    """Two servers with a volume that both may use."""

    def setUp(self):
        super().setUp()
        self.volume = self.api.neighbours.volume
        self.volume.add(api_neighbours.VOLUME_ID, multiattach=True)
        world = types.SimpleNamespace(
            conf=self.api.conf,
            api_db=self.api.api_db,
            cells=self.api.cells,
            **self.api.neighbours.clients(),
        )
        self.disposals = disposals.Disposals(world)

    def rows(self):
        """Return all build requests, also those that no user is shown."""
        return self.api.api_db.read(lambda connection: connection.execute(TABLE.select()).all())

    def lapse(self):
        """The leases of all end, and the super-conductor looks for what is left."""
        ended = TABLE.update().values(lease_until=database_clock.after(-1))
        self.api.api_db.write(lambda connection: connection.execute(ended))
        self.disposals.run()

    def reserved(self):
        return {each[2] for each in self.volume.attached} - set(self.volume.deleted)

    def before(self, name, act, *, target=create_accept):
        """Do something just before a function is called."""
        function = getattr(target, name)

        def told(*args, **kwargs):
            act()
            return function(*args, **kwargs)

        self.patch(target, name, told)

    def test_reserved_by_a_process_that_was_killed(self):
        """Its reservation is counted until just before the later request accepts its servers."""
        seen = []

        def look():
            seen.append(len(self.reserved()))
            self.disposals.run()
            seen.append(len(self.reserved()))
            self.lapse()
            seen.append(len(self.reserved()))

        self.before('accept', look)
        self.refused('POST', '/servers', self.body(**FIELDS), code=409, version='latest')
        self.assertEqual([2, 2, 0], seen)
        self.assertEqual([], self.volume.volumes_deleted)

    def test_a_process_that_was_frozen_accepts_nothing(self):
        self.before('accept', self.lapse)
        self.refused('POST', '/servers', self.body(**FIELDS), code=409, version='latest')
        self.assertEqual(set(), self.reserved())
        self.assertEqual([], self.api.super_conductor.calls)
        self.assertEqual([], self.ok('GET', '/servers').json['servers'])

    def test_a_process_that_was_frozen_reserves_no_more(self):
        self.api.conf.set_override('build_lease_s', 1, 'conductor')
        self.api.conf.set_override('timeout', 0, 'cinder')
        passed = []
        self.patch(create_reserve.runtime, 'boottime', lambda: len(passed) * 1000.0)

        def freeze():
            if not passed:
                passed.append(1)
                self.lapse()

        self.before('create_attachment', freeze, target=self.volume)
        self.refused('POST', '/servers', self.body(**FIELDS), code=409, version='latest')
        self.assertEqual(1, len(self.volume.attached))
        self.assertEqual(set(), self.reserved())

    def test_invisible_until_accepted(self):
        seen = []

        def look():
            seen.extend(self.ok('GET', '/servers').json['servers'])
            seen.extend(self.api.api_db.read(build_requests.every))
            path = f'/servers/{self.volume.attached[0][1]}'
            seen.append(self.api.call('GET', path).status_code)
            seen.append(len(self.rows()))

        self.before('accept', look)
        self.create(**FIELDS)
        self.assertEqual([404, 2], seen)

    def test_accepted(self):
        found = self.create(**FIELDS)
        self.assertEqual([row.id for row in found], [row.id for row in self.rows()])
        self.lapse()
        self.assertEqual(2, len(self.reserved()))

    def test_refused(self):
        """No work is left for the super-conductor."""
        self.api.conf.set_override('instances', 0, 'quota')
        self.refuse(403, **FIELDS)
        self.assertEqual([], self.rows())

    def test_as_many_as_the_quota_allows(self):
        self.api.conf.set_override('instances', 1, 'quota')
        found = self.create(**FIELDS, min_count=1)
        self.assertEqual([row.id for row in found], [row.id for row in self.rows()])
        self.assertEqual(1, len(self.reserved()))

    def test_what_the_volume_service_did_unheard(self):
        """It made an attachment and its answer was lost."""
        create = self.volume.create_attachment

        def unheard(*args, **kwargs):
            create(*args, **kwargs)
            raise exception.Unavailable(service='volume', reason='test')

        self.patch(self.volume, 'create_attachment', unheard)
        self.refused('POST', '/servers', self.body(**FIELDS), code=503, version='latest')
        self.assertEqual(1, len(self.reserved()))
        self.lapse()
        self.assertEqual(set(), self.reserved())

    def test_what_the_volume_service_forbids(self):
        """As in nova, the answer has its reason and no 500."""

        def forbid(*_args, **_options):
            raise exception.NeighbourForbids(service='volume', reason='a policy says so')

        self.patch(self.volume, 'create_attachment', forbid)
        body, options = self.body(**FIELDS), {'version': 'latest', 'text': 'a policy says so'}
        self.refused('POST', '/servers', body, code=403, **options)
        self.assertEqual([], self.rows())

    def test_what_was_not_given_back(self):
        self.api.conf.set_override('instances', 0, 'quota')
        delete, failed = self.volume.delete_attachment, []

        def refuse_once(*args):
            if not failed:
                failed.append(args)
                raise exception.Unavailable(service='volume', reason='test')
            delete(*args)

        self.patch(self.volume, 'delete_attachment', refuse_once)
        self.refused('POST', '/servers', self.body(**FIELDS), code=403, version='latest')
        self.assertEqual(1, len(self.reserved()))
        self.lapse()
        self.assertEqual(set(), self.reserved())

    def test_nobody_can_tell_whether_they_were_accepted(self):
        """They were not: the super-conductor finds out."""

        def away(*_args, **_options):
            raise exception.Unavailable(service='The database', reason='test')

        def lose():
            self.patch(self.api.api_db, 'write', away)
            self.patch(self.api.api_db, 'read', away)

        write, read = self.api.api_db.write, self.api.api_db.read
        self.before('accept', lose)
        self.refused('POST', '/servers', self.body(**FIELDS), code=503, version='latest')
        self.patch(self.api.api_db, 'write', write)
        self.patch(self.api.api_db, 'read', read)
        self.assertEqual(2, len(self.reserved()))
        self.lapse()
        self.assertEqual(set(), self.reserved())

    def test_nothing_to_reserve(self):
        """An image is no reservation: nothing is on record before the server is."""
        self.before('accept', lambda: self.assertEqual([], self.rows()))
        self.create()
