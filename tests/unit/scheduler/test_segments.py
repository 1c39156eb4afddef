"""Aggregates of routed networks."""

from nova_lite import exception
from nova_lite.scheduler import segments
from tests.unit.scheduler import base


class Stand:
    """Stands in for the network service and for placement's providers."""

    SUBNETS = {
        'flat': [{'id': 'sub0', 'segment_id': None}],
        'routed': [{'id': 'sub1', 'segment_id': 'seg1'}, {'id': 'sub2', 'segment_id': 'seg2'}],
        'broken': [{'id': 'sub3', 'segment_id': 'seg1'}, {'id': 'sub4', 'segment_id': 'seg3'}],
        'old': [{'id': 'sub5'}],
    }
    PORTS = {
        'p1': {'network_id': 'routed', 'fixed_ips': []},
        'p2': {'network_id': 'routed', 'fixed_ips': [{'subnet_id': 'sub2'}]},
        'p3': {'network_id': 'flat', 'fixed_ips': [{'subnet_id': 'sub0'}]},
    }
    AGGREGATES = {'seg1': {'a'}, 'seg2': {'b'}}

    @property
    def providers(self):
        return self

    def list_subnets(self, ctxt, *, network_id):
        return self.SUBNETS[network_id]

    def get_subnet(self, ctxt, uuid):
        return next(one for found in self.SUBNETS.values() for one in found if one['id'] == uuid)

    def get_port(self, ctxt, uuid):
        return self.PORTS[uuid]

    def aggregates(self, ctxt, uuid):
        if uuid not in self.AGGREGATES:
            raise exception.ResourceProviderNotFound(name_or_uuid=uuid)
        return self.AGGREGATES[uuid], 1


class SegmentsTest(base.SchedulerTestCase):
    def test_table(self):
        stand = Stand()
        find = segments.Segments(stand, stand)
        for network, port, expected in (
            (None, None, None),
            ('flat', None, None),
            ('old', None, None),
            ('routed', None, {'a', 'b'}),
            ('broken', None, set()),
            (None, 'p1', {'a', 'b'}),
            (None, 'p2', {'b'}),
            (None, 'p3', None),
        ):
            with self.subTest(network=network, port=port):
                self.assertEqual(expected, find(None, network, port))
