"""The cells and hosts that sagas are known to work with."""

import testtools

from nova_lite.moves import lanes
from nova_lite.saga import queue


class LanesTest(testtools.TestCase):
    def of(self, data, **arguments):
        return [f'{lane.kind} {lane.name}' for lane in lanes.of(arguments, data)]

    def test_the_cell_of_the_server_is_first(self):
        self.assertEqual(['cell one'], self.of({}, cell='one'))
        self.assertEqual([], self.of({}))

    def test_where_it_is_and_where_it_goes(self):
        data = {
            'record-migration': {'host': 'h1', 'node': 'n1', 'zone': None},
            'choose-destination': {'service_host': 'h2', 'cell_uuid': 'two', 'limits': {}},
        }
        expected = ['cell one', 'host h1', 'cell two', 'host h2']
        self.assertEqual(expected, self.of(data, cell='one'))

    def test_both_ends_of_a_resize(self):
        data = {'record-request': {'source': {'host': 'h1'}, 'dest': {'host': 'h2'}}}
        self.assertEqual(['cell one', 'host h1', 'host h2'], self.of(data, cell='one'))

    def test_what_names_no_host(self):
        data = {'record': {'host': None}, 'bind': True, 'refused': [{'host': 'h3'}], '_tries': {}}
        self.assertEqual(['cell one'], self.of(data, cell='one'))

    def test_kinds(self):
        self.assertEqual(queue.CELL, lanes.of({'cell': 'one'}, {})[0].kind)
