"""Zones and hosts of an unshelve that do not exist."""

from tests.fixtures import compute_api
from tests.unit.api.servers import base


class TestPlaces(base.Case):
    def test_both_of_any_length(self):
        """The schema bounds them only where one of them stands alone."""
        server = self.api.add_server(vm_state='shelved_offloaded', host=None, node=None)
        rows = (
            ('', 'host1', 'zone  is not available'),
            ('z' * 256, 'host1', 'is not available'),
            (None, '', 'host  could not be found'),
            (None, 'h' * 256, 'could not be found'),
        )
        for zone, host, text in rows:
            content = {'availability_zone': zone, 'host': host}
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
