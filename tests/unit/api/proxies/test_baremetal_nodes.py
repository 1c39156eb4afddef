"""/os-baremetal-nodes of a cloud without a bare metal service."""

from nova_lite import runtime
from tests.fixtures import compute_api
from tests.unit.api.proxies import base

PATH = '/os-baremetal-nodes'
ONE = f'{PATH}/{runtime.new_uuid()}'
ACTIONS = [{'add_interface': {'address': 'aa:aa:aa:aa:aa:aa'}}, {'remove_interface': None}]
CHANGES = [
    ('POST', PATH, {'node': {'service_host': 'host'}}),
    ('DELETE', ONE),
    *(('POST', f'{ONE}/action', body) for body in ACTIONS),
]


class TestBaremetalNodes(base.Case):
    def test_there_are_none(self):
        found = self.ok('GET', PATH, who=compute_api.ADMIN).json
        self.assertEqual({'nodes': []}, found)
        self.refused('GET', ONE, code=404, text=ONE.rpartition('/')[2], who=compute_api.ADMIN)
        for path in (PATH, ONE):
            self.refused('GET', path, code=403)

    def test_nodes_are_not_changed(self):
        for method, path, *body in CHANGES:
            self.refused(method, path, *body, code=400, text='bare metal service')
        self.refused('POST', f'{ONE}/action', {'paint': None}, code=400, text='paint')

    def test_gone_from_2_36(self):
        self.assert_ends(('GET', PATH), ('GET', ONE), *CHANGES)
