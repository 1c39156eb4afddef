"""Order of the checks of the host, the arguments, the lock and the state of a server."""

from nova_lite import runtime
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base


class TestArgumentsBeforeStates(base.Case):
    """Nova refuses these arguments before it looks at the lock and the state of a server."""

    wrong = (
        ('PUT', '/metadata/a', {'meta': {'b': 'c'}}, 400),
        ('DELETE', '/metadata/unknown', None, 404),
        ('POST', '/action', {'evacuate': {'host': 'unknown'}}, 404),
        ('POST', '/action', {'evacuate': {'host': 'host1'}}, 400),
    )

    def test_state_and_lock(self):
        for values in ({'vm_state': 'soft-delete'}, {'locked': True, 'locked_by': 'owner'}):
            path = f'/servers/{self.api.add_server(metadata={"a": "z"}, **values)}'
            for method, end, body, code in self.wrong:
                # An administrator's lock is none.
                who = base.ADMIN if body and 'evacuate' in body else None
                self.refused(method, path + end, body, code=code, who=who, version=base.NEWEST)
            self.refused('PUT', f'{path}/metadata/a', {'meta': {'a': 'b'}}, code=409)
            self.refused('DELETE', f'{path}/metadata/a', code=409)


class TestConsoles(base.Case):
    def test_any_state_with_a_host(self):
        """Neither its power nor its lock matters to the API, as in nova."""
        body = {'remote_console': {'protocol': 'vnc', 'type': 'novnc'}}
        for values in (
            {'vm_state': 'stopped', 'power_state': 4},
            {'vm_state': 'suspended', 'power_state': 7},
            {'vm_state': 'soft-delete', 'power_state': 4},
            {'locked': True, 'locked_by': 'owner'},
        ):
            path = f'/servers/{self.api.add_server(**values)}/remote-consoles'
            self.ok('POST', path, body, version='2.8')
        path = f'/servers/{self.api.add_server(vm_state="building")}/remote-consoles'
        self.refused('POST', path, body, code=409, version='2.8', text='not ready')

    def test_the_host_comes_before_the_type(self):
        uuid = self.api.add_server(host=None, node=None, vm_state='shelved_offloaded')
        for protocol, kind in (('vnc', 'serial'), ('mks', 'webmks'), ('vnc', 'novnc')):
            body = {'remote_console': {'protocol': protocol, 'type': kind}}
            path = f'/servers/{uuid}/remote-consoles'
            self.refused('POST', path, body, code=409, version='2.8', text='not ready')


class TestServersWithoutCell(create_base.Case):
    def test_unknown_volume(self):
        """The volume is looked for first, as in nova."""
        (request,) = self.create()
        path = f'/servers/{request.instance_uuid}/os-volume_attachments'
        self.refused('DELETE', f'{path}/{runtime.new_uuid()}', code=404)
        known = api_neighbours.VOLUME_ID
        self.refused('DELETE', f'{path}/{known}', code=409, text='not ready')
        body = {'volumeAttachment': {'volumeId': known}}
        self.refused('POST', path, body, code=409, text='building')
