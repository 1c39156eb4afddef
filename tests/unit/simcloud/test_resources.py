"""Behaviour that all resources of simcloud have from their declaration."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from tests.unit.simcloud import base


class Rooms:
    """The rules of a noun whose rows are kept in a dict."""

    def __init__(self):
        self.rows = {}

    def get(self, conn, caller, house, room):
        if (house, room) not in self.rows:
            raise faults.NotFound(f'There is no {room} in {house}.')
        return self.rows[house, room]

    def create(self, conn, caller, house, wanted):
        self.rows[house, wanted['name']] = {'name': wanted['name'], 'house': house}
        return self.rows[house, wanted['name']]

    def listed(self, conn, req, house):
        return [row for row in self.rows.values() if row['house'] == house]


class ResourceTestCase(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        style = resources.Style(
            collection=lambda _req, plural, items: {plural: items, 'count': len(items)},
            created=falcon.HTTP_202,
        )
        self.rooms = Rooms()
        self.told = []
        self.room = resources.Resource(
            name='room',
            style=style,
            listed=self.rooms.listed,
            get=self.rooms.get,
            views=resources.each(lambda row: {'name': row['name']}),
            create=(
                self.rooms.create,
                bodies.wrapped('room', {'name': bodies.NAME}, ['name']),
            ),
            permit=resources.admins('room', actions=(resources.CREATE,)),
            notify=lambda _db, _caller, action, row: self.told.append((action, row['name'])),
        )

    def client(self, *roles):
        """Requests to a cloud that has rooms too, by a caller with these roles."""
        db = database.Database(self.database)
        self.addCleanup(db.close)
        path = '/network/houses/{house}/rooms'
        routing.add_resource(self.wsgi.app.answer, db, path, field='room', resource=self.room)
        return self.believed('u', 'p', *roles)

    def test_requests_follow_from_the_declaration(self):
        admin, path = self.client('admin'), '/network/houses/1/rooms'
        self.assertEqual(
            {'room': {'name': 'hall'}}, admin.post(path, {'room': {'name': 'hall'}}, expect=202)
        )
        self.assertEqual([('creating', 'hall')], self.told)
        self.assertEqual({'rooms': [{'name': 'hall'}], 'count': 1}, admin.get(path))
        self.assertEqual({'rooms': [], 'count': 0}, admin.get('/network/houses/2/rooms'))
        self.assertEqual({'room': {'name': 'hall'}}, admin.get(f'{path}/hall'))
        admin.get('/network/houses/2/rooms/hall', expect=404)

    def test_what_has_no_rule_is_not_allowed(self):
        admin, path = self.client('admin'), '/network/houses/1/rooms'
        admin.put(f'{path}/hall', {'room': {}}, expect=405)
        admin.delete(f'{path}/hall', expect=405)

    def test_rights_come_before_the_body(self):
        member = self.client('member')
        member.post('/network/houses/1/rooms', {'room': 5}, expect=403)
        self.assertEqual({}, self.rooms.rows)
        member.get('/network/houses/1/rooms')

    def test_fields_narrow_what_is_created(self):
        network = self.network_id('private')
        wanted = {'network_id': network, 'cidr': '192.0.2.0/24', 'ip_version': 4}
        made = self.demo.post('/network/v2.0/subnets?fields=cidr', {'subnet': wanted})
        self.assertEqual({'subnet': {'cidr': '192.0.2.0/24'}}, made)
