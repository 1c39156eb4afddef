"""Images of servers: createImage and createBackup."""

from nova_lite.db.cell import instances
from tests.unit.api.servers import base


class TestImages(base.Case):
    def test_create_image(self):
        uuid = self.api.add_server()
        body = {'name': 'copy', 'metadata': {'a': 'b'}}
        answer = self.act(uuid, 'createImage', body, version='2.45')
        image_id = answer.json['image_id']
        self.assertEqual('b', self.api.neighbours.image.images[image_id]['properties']['a'])
        self.assertEqual('image_snapshot_pending', self.api.row(uuid).task_state)
        method, arguments = self.sent()[0]
        self.assertEqual(('snapshot_instance', image_id), (method, arguments['image_id']))

    def test_address_before_2_45(self):
        answer = self.act(self.api.add_server(), 'createImage', {'name': 'copy'})
        self.assertIn('/images/', answer.headers['Location'])

    def test_backup(self):
        uuid = self.api.add_server()
        body = {'name': 'b', 'backup_type': 'daily', 'rotation': 1}
        self.act(uuid, 'createBackup', body)
        self.assertEqual('image_backup', self.api.row(uuid).task_state)
        self.refused_act(uuid, 'createBackup', {**body, 'rotation': -1}, code=400, text='rotation')

    def test_rotation(self):
        """Only backups of the same kind take turns."""
        uuid, images = self.api.add_server(), self.api.neighbours.image
        known = {*images.images}
        for kind in ('daily', 'weekly', 'daily', 'daily'):
            body = {'name': kind, 'backup_type': kind, 'rotation': 2}
            self.act(uuid, 'createBackup', body)
            self.api.cell('cell1').db.write(instances.force, uuid, {'task_state': None})
        self.act(uuid, 'createImage', {'name': 'daily'})
        made = [images.images[each] for each in images.images if each not in known]
        self.assertEqual(
            [('weekly', 'backup'), ('daily', 'backup'), ('daily', 'backup'), ('daily', 'snapshot')],
            [(each['name'], each['properties']['image_type']) for each in made],
        )
