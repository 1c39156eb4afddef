"""injectNetworkInfo, on the simulated network service."""

from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from tests.fixtures import neighboured_api
from tests.unit.api.servers import base


class TestInjectNetworkInfo(base.Case):
    def make_api(self):
        return neighboured_api.NeighbouredApi()

    def inject(self, uuid, code=202, **options):
        answer = self.api.call(
            'POST', f'/servers/{uuid}/action', {'injectNetworkInfo': None}, **options
        )
        self.assertEqual(code, answer.status_code, answer.text)
        return answer.text

    def test_ports_are_read_anew(self):
        uuid = self.api.add_server()
        port = self.api.plug(uuid, self.api.add_network()['id'])
        before = self.api.row(uuid)
        self.assertEqual([], before.network_info)
        self.inject(uuid, who=base.ADMIN)
        after = self.api.row(uuid)
        (vif,) = after.network_info
        self.assertEqual(port['id'], vif['id'])
        self.assertEqual(before.updated_at, after.updated_at)

    def test_a_server_that_changes_cells(self):
        uuid, there = self.api.add_server(), self.api.cell('cell2')
        port = self.api.plug(uuid, self.api.add_network()['id'])
        info = self.api.network.info

        def move(*args, **options):
            self.api.network.info = info
            there.db.write(instances.create, [self.api.record(uuid=uuid, host='host2')])
            cell_ids = (self.api.cell('cell1').id, there.id)
            self.api.api_db.write(instance_mappings.switch, uuid, *cell_ids)
            self.api.cell('cell1').db.write(instances.seal, uuid)
            return info(*args, **options)

        self.api.network.info = move
        self.inject(uuid, who=base.ADMIN)
        (vif,) = self.api.row(uuid, 'cell2').network_info
        self.assertEqual(port['id'], vif['id'])

    def test_refused(self):
        self.inject(self.api.add_server(), 403)
        for values in ({'task_state': 'rebooting'}, {'launched_at': None}, {'host': None}):
            text = self.inject(self.api.add_server(**values), 409, who=base.ADMIN)
            self.assertIn('nstance', text)
