"""Network information that was read before the API changed groups of its ports."""

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from tests.unit.conductor import base


def vif(port_id='port', *groups, version=0):
    return {'id': port_id, 'security_groups': list(groups), 'groups_version': version}


class NetworkInfoTest(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server(vm_state='active', task_state=None)

    def info(self):
        return self.cell.row(self.uuid).network_info

    def record(self, *info):
        self.cell.db.write(network_info.store, self.uuid, list(info))

    def change_groups(self, **of_ports):
        """Do what the API does when it has changed groups."""

        def change(connection):
            row = instances.lock(connection, self.uuid)
            network_info.store_groups(connection, row, ['web'], of_ports)

        self.cell.db.write(change)

    def test_merged_has_the_groups_of_the_higher_version(self):
        recorded = [vif('a', 'new', version=2), vif('b', 'old', version=1), vif('gone', version=9)]
        info = [vif('a', 'old', version=1), vif('b', 'new', version=1), vif('c', 'only')]
        found = network_info.merged(recorded, info)
        expected = [vif('a', 'new', version=2), vif('b', 'new', version=1), vif('c', 'only')]
        self.assertEqual(expected, found)

    def test_merged_keeps_the_rest(self):
        found = network_info.merged([vif(version=1)], [{**vif(), 'active': True}])
        self.assertEqual([{**vif(version=1), 'active': True}], found)

    def test_merged_with_what_earlier_releases_recorded(self):
        for recorded in (None, [], [{'id': 'port'}], [{'id': 'port', 'security_groups': ['x']}]):
            self.assertEqual([vif()], network_info.merged(recorded, [vif()]))
        (found,) = network_info.merged([vif('port', 'new', version=1)], [{'id': 'port'}])
        self.assertEqual(vif('port', 'new', version=1), found)

    def test_a_change_raises_the_version(self):
        self.record(vif('a'), {'id': 'b'}, vif('c'))
        for version in (1, 2):
            self.change_groups(a=['web'], b=['web'], other=['web'])
            expected = [vif('a', 'web', version=version), vif('b', 'web', version=version)]
            self.assertEqual([*expected, vif('c')], self.info())
        self.assertEqual(['web'], self.cell.row(self.uuid).security_groups)

    def test_renewed(self):
        self.record(vif())
        self.change_groups(port=['web'])
        self.cell.db.write(network_info.renew, self.uuid, [{**vif(), 'active': True}])
        self.assertEqual([{**vif('port', 'web', version=1), 'active': True}], self.info())

    def test_renewed_of_a_server_that_is_not_there(self):
        self.cell.db.write(instances.mark_deleted, self.uuid)
        renew = network_info.renew
        self.assertRaises(exception.StateChanged, self.cell.db.write, renew, self.uuid, [vif()])
