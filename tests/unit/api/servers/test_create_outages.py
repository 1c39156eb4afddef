"""POST /servers while the API database or the volume service fails."""

from nova_lite import exception
from nova_lite.api.servers import create_accept
from nova_lite.api.servers import create_reserve
from nova_lite.db.api import build_requests
from tests.fixtures import api_neighbours
from tests.unit.api.servers import create_base

FIELDS = {
    'imageRef': create_base.ABSENT,
    'block_device_mapping_v2': [
        {'source_type': 'volume', 'uuid': api_neighbours.VOLUME_ID, 'boot_index': 0}
    ],
    'max_count': 2,
}


class OutageTest(create_base.Case):
    """Two servers with a volume each of which a reservation was made."""

    def setUp(self):
        super().setUp()
        self.volume = self.api.neighbours.volume
        self.volume.add(api_neighbours.VOLUME_ID, multiattach=True)
        self.error = exception.Unavailable(service='The database', reason='lost at COMMIT')

    def lose(self, *, after):
        """Lose the connection before or after the transaction was committed."""
        accept = create_accept.accept

        def fail(*args):
            if after:
                accept(*args)
            raise self.error

        self.patch(create_accept, 'accept', fail)

    def test_committed_and_the_connection_is_lost(self):
        self.lose(after=True)
        self.assertEqual(2, len(self.create(**FIELDS)))
        self.assertEqual([], self.volume.deleted)

    def test_not_committed(self):
        self.lose(after=False)
        self.refuse(503, **FIELDS)
        self.assertEqual(2, len(self.volume.deleted))

    def test_no_telling(self):
        """Resources that accepted servers may use are not released."""
        self.lose(after=True)

        def away(*_args):
            raise self.error

        self.patch(create_reserve.Reservation, 'accepted', away)
        self.refused('POST', '/servers', self.body(**FIELDS), code=503, version='latest')
        self.assertEqual(2, len(self.api.api_db.read(build_requests.every)))
        self.assertEqual([], self.volume.deleted)

    def test_one_reservation_stays(self):
        self.lose(after=False)
        delete, failed = self.volume.delete_attachment, []

        def refuse_once(ctxt, attachment_id):
            if not failed:
                failed.append(attachment_id)
                raise exception.Unavailable(service='volume', reason='test')
            delete(ctxt, attachment_id)

        self.patch(self.volume, 'delete_attachment', refuse_once)
        self.refused('POST', '/servers', self.body(**FIELDS), code=503, version='latest')
        self.assertEqual(1, len(self.volume.deleted))
