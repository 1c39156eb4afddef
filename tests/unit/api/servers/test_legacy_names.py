"""Names with blanks at their ends: /v2 drops the blanks, /v2.1 refuses the name.

Which of them is nova 34's, which was asked.
"""

from nova_lite import runtime
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base

IMAGE = api_neighbours.IMAGE_ID
LONG = 'x' * 253
# Sent, and what /v2 makes of it; None: refused.
NAMES = {
    ' x ': 'x', '\N{NO-BREAK SPACE}y': 'y', f' {LONG} ': LONG, f' {LONG}  ': None, ' ': None,
    '': None, 'a\tb': None, 5: None,
}  # fmt: skip


class LegacyNamesTest(create_base.Case):
    def requests(self, name):
        """Yield (request, key of the answer or None) of each name that /v2 strips."""
        flavor = {'name': name, 'ram': 1, 'vcpus': 1, 'disk': 1}
        server = {'name': name, 'flavorRef': '42', 'imageRef': IMAGE}
        uuid = self.api.add_server()
        yield ('POST', '/servers', {'server': server}), None
        yield ('PUT', f'/servers/{uuid}', {'server': {'name': name}}), 'server'
        rebuild = {'rebuild': {'name': name, 'imageRef': IMAGE}}
        yield ('POST', f'/servers/{uuid}/action', rebuild), 'server'
        backup = {'createBackup': {'name': name, 'backup_type': 'daily', 'rotation': 1}}
        yield ('POST', f'/servers/{self.api.add_server()}/action', backup), None
        yield ('POST', '/flavors', {'flavor': flavor}), 'flavor'
        yield ('POST', '/os-aggregates', {'aggregate': {'name': name}}), 'aggregate'
        aggregate = {'name': runtime.new_uuid(), 'availability_zone': name}
        yield ('POST', '/os-aggregates', {'aggregate': aggregate}), None
        yield ('POST', '/os-keypairs', {'keypair': {'name': name}}), 'keypair'

    def test_names_that_keep_their_blanks(self):
        """Nova refuses them at /v2, too."""
        uuid = self.api.add_server()
        groups = {'server_group': {'name': ' x ', 'policies': ['affinity']}}
        image = {'createImage': {'name': ' x '}}
        for path, body in (('/os-server-groups', groups), (f'/servers/{uuid}/action', image)):
            for root in ('/v2', '/v2.1'):
                self.refused('POST', path, body, code=400, root=root)

    def test_user_data(self):
        body = self.body(user_data=None, networks=create_base.ABSENT)
        self.refused('POST', '/servers', body, code=400)
        self.ok('POST', '/servers', body, code=202, root='/v2')

    def test_names(self):
        for name, kept in NAMES.items():
            for request, key in self.requests(name):
                with self.subTest(name=name, request=request[:2], key=key):
                    self.assertEqual(400, self.api.call(*request, who=base.ADMIN).status_code)
                    answer = self.api.call(*request, who=base.ADMIN, root='/v2')
                    if kept is None or (key == 'keypair' and not kept.isascii()):
                        self.assertEqual(400, answer.status_code)
                    else:
                        self.assertIn(answer.status_code, (200, 202), answer.text)
                        if key:
                            self.assertEqual(kept, answer.json[key]['name'])
