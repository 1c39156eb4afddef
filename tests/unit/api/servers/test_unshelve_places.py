"""Zones and hosts of an unshelve that do not exist."""

from nova_lite.db.api import sagas
from tests.fixtures import compute_api
from tests.unit.api.servers import base


class TestPlaces(base.Case):
    def test_of_any_form(self):
        server = self.api.add_server(vm_state='shelved_offloaded', host=None, node=None)
        rows = (
            ({'availability_zone': 'z' * 256}, 'is not available'),
            ({'availability_zone': ' a', 'host': 'host1'}, 'is not available'),
            ({'availability_zone': None, 'host': 'h' * 256}, 'could not be found'),
            ({'host': 'a b'}, 'could not be found'),
        )
        for content, text in rows:
            self.refused_act(
                server,
                'unshelve',
                content,
                code=400,
                text=text,
                version='2.91',
                who=compute_api.ADMIN,
            )
        self.assertEqual([], self.api.super_conductor.calls)

    def test_empty_ones(self):
        """An empty zone unpins the server, and an empty host is none."""
        for content, arguments in (
            ({'host': ''}, {}),
            ({'availability_zone': ''}, {'zone': None}),
            ({'availability_zone': '', 'host': ''}, {'zone': None}),
        ):
            server = self.api.add_server(vm_state='shelved_offloaded', host=None, node=None)
            self.act(server, 'unshelve', content, version='2.91', who=compute_api.ADMIN)
            saga = self.api.api_db.read(sagas.find_active, server)
            places = {
                name: saga.arguments[name] for name in ('zone', 'host') if name in saga.arguments
            }
            self.assertEqual(arguments, places)
