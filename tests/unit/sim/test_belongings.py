"""Objects that clients made stay, and those made for servers go, at the end of a history."""

import types

import testtools

from tests.sim.oracle import belongings
from tests.sim.oracle import excuses
from tests.sim.workload import caller
from tests.sim.workload import ledger


class BelongingsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ledger = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
        self.ledger.gone['deleted'] = True
        for what, code, kind in (('make volume', 202, 'volume'), ('make port', 201, 'port')):
            url, answer = f'http://simcloud.sim/{kind}s', {kind: {'id': f'own-{kind}'}}
            self.ledger.answered(
                caller.Call('client-0', what, 'POST', url, 1, code=code, answer=answer), ''
            )

    def found(self, code=200, volumes=(), attached=(), ports=()):
        """Return (what is lost, what is left).

        volumes: (id, status, name); attached: (id of a volume, id of a server)
        ports: (id, id of a server)
        """
        lists = {
            'volumes': [
                {'id': uuid, 'status': status, 'name': name, 'migration_status': None}
                for uuid, status, name in volumes
            ],
            'attachments': [
                {'volume_id': volume, 'instance': server} for volume, server in attached
            ],
            'ports': [{'id': uuid, 'device_id': server} for uuid, server in ports],
            'snapshots': [],
        }
        asking = types.SimpleNamespace(neighbour=lambda *_args, **_options: (code, lists))
        checked = belongings.Belongings(self.ledger, asking)
        return list(checked.lost()), list(checked.left())

    def test_what_clients_made_is_lost(self):
        lost, _left = self.found()
        self.assertEqual(['lost volume own-volume', 'lost port own-port'], lost)

    def test_lists_that_cannot_be_read(self):
        self.assertEqual(([], []), self.found(503))

    def test_what_clients_made_is_free_or_used_by_a_server(self):
        for volume, attached, port, expected in (
            ('available', (), '', []),
            ('in-use', ['server'], 'server', []),
            ('reserved', ['server'], '', []),
            ('in-use', (), '', ['volume own-volume is in-use, attached to no server']),
            (
                *('in-use', ['deleted'], ''),
                ['volume own-volume is in-use, attached to a deleted server'],
            ),
            ('available', (), 'deleted', ['port own-port of a deleted server']),
        ):
            ports = [('own-port', port)]
            attached = [('own-volume', server) for server in attached]
            volumes = [('own-volume', volume, 'client-0')]
            found = self.found(volumes=volumes, attached=attached, ports=ports)
            self.assertEqual(([], expected), found)

    def test_what_was_made_for_servers_is_left(self):
        volumes = [
            *(('own-volume', 'available', 'client-0'), ('root', 'available', '')),
            *(('used', 'in-use', ''), ('unanswered', 'available', 'client-1')),
        ]
        ports = [('own-port', ''), ('port', ''), ('bound', 'server'), ('kept', 'deleted')]
        expected = [
            'left without a fault: port port',
            'port kept of a deleted server',
            'left without a fault: volume root',
        ]
        self.assertEqual(([], expected), self.found(volumes=volumes, ports=ports))
