"""Migrations of volumes by simcloud's volume service against the real Cinder's.

Neither has a compute service. What that does in a migration is tested by tests/neighbours and
tests/functional/test_volume_attachments.py.
"""

import requests

from nova_lite.simcloud.volume import tables
from tests.peers import base
from tests.peers import callers
from tests.peers import volumes

REAL = ('cinder@fake#fake', 'cinder@other#other')
HERE = {'host': 'host-1', 'mountpoint': '/dev/vdb'}


class MigrationsTest(volumes.VolumePeersTest):
    def shown(self, peer, volume_id):
        path = f'{peer.url}/v3/volumes/{volume_id}'
        return requests.get(path, headers=peer.headers, timeout=60).json()['volume']

    def act(self, peer, volume_id, action, wanted):
        peer.ask('POST', f'/v3/volumes/{volume_id}/action', {action: wanted})

    def reset(self, peer, volume_id, migration, **values):
        self.act(peer, volume_id, 'os-reset_status', {'migration_status': migration, **values})

    def migrate(self, peer, volume_id, host=None, *, away=True, **values):
        """Ask for a migration and note the code. host: default: the other one, or its own"""
        if host is None:
            own = self.shown(peer, volume_id)['os-vol-host-attr:host']
            pools = REAL if peer.url == self.real.url else tables.HOSTS
            host = next(each for each in pools if (each != own) == away)
        answer = requests.post(
            f'{peer.url}/v3/volumes/{volume_id}/action',
            json={'os-migrate_volume': {'host': host, **values}},
            headers=peer.headers,
            timeout=60,
        )
        peer.note('migrate', {'code': answer.status_code})
        return host

    def see(self, peer, volume_id):
        """Note the states of a volume."""
        found = self.shown(peer, volume_id)
        fields = ('status', 'migration_status', 'os-vol-mig-status-attr:migstat')
        peer.note('look', {name: found[name] for name in fields})

    def in_use(self, peer):
        """(id of a new volume in use, id of its attachment)."""
        volume_id = self.volume(peer)
        attachment_id = self.attach(peer, volume_id)
        self.connect(peer, attachment_id, **HERE)
        self.complete(peer, attachment_id)
        return volume_id, attachment_id

    def remove(self, peer, *volume_ids):
        """Delete volumes: a project may have ten."""
        for volume_id in volume_ids:
            wanted = {'status': 'available', 'migration_status': 'none'}
            self.act(peer, volume_id, 'os-reset_status', {**wanted, 'attach_status': 'detached'})
            peer.ask('DELETE', f'/v3/volumes/{volume_id}')

    @base.same
    def test_a_volume_that_no_server_uses(self, peer):
        volume_id = self.volume(peer)
        host = self.migrate(peer, volume_id)
        self.real.daemon.wait_for(
            lambda: self.shown(peer, volume_id)['migration_status'] == 'success', 60, 'has moved'
        )
        self.see(peer, volume_id)
        self.assertEqual(host, self.shown(peer, volume_id)['os-vol-host-attr:host'])
        self.remove(peer, volume_id)

    @base.same
    def test_refused_migrations(self, peer):
        volume_id = self.volume(peer)
        self.migrate(peer, volume_id, 'other@other#other')
        self.migrate(peer, volume_id, away=False)
        self.migrate(peer, volume_id, colour='blue')
        for wanted in ({}, {'host': 1}, {'host': 'x' * 256}):
            self.act(peer, volume_id, 'os-migrate_volume', wanted)
        for status in ('migrating', 'starting', 'completing'):
            self.reset(peer, volume_id, status)
            self.migrate(peer, volume_id)
        self.reset(peer, volume_id, 'none', status='error')
        self.migrate(peer, volume_id)
        self.remove(peer, volume_id)
        volume_id = self.volume(peer)
        peer.headers.update(callers.by(callers.MEMBER))
        self.act(peer, volume_id, 'os-migrate_volume', {'host': 'host'})
        peer.headers.update(callers.by(callers.ADMINISTRATOR))
        self.remove(peer, volume_id)

    @base.same
    def test_completions_of_no_migration(self, peer):
        volume_id, other = self.volume(peer), self.volume(peer)
        for mine, its in (('migrating', 'none'), ('none', 'migrating'), ('migrating', 'success')):
            self.reset(peer, volume_id, mine)
            self.reset(peer, other, its)
            for error in (False, True):
                wanted = {'new_volume': other, 'error': error}
                self.act(peer, volume_id, 'os-migrate_volume_completion', wanted)
        self.reset(peer, volume_id, 'none')
        self.reset(peer, other, 'none')
        for wanted in (
            {'new_volume': other},
            {'new_volume': other, 'error': True},
            {'new_volume': other, 'error': None},
            {'new_volume': callers.NOWHERE},
            {'new_volume': 'other'},
            {},
            {'new_volume': other, 'colour': 'blue'},
        ):
            self.act(peer, volume_id, 'os-migrate_volume_completion', wanted)
        for each in (volume_id, other):
            self.see(peer, each)
        self.remove(peer, volume_id, other)

    @base.same
    def test_statuses_that_can_be_set(self, peer):
        volume_id = self.volume(peer)
        for status in ('migrating', 'error', None, 'success', 'none', 'target', '', 'STARTING'):
            self.reset(peer, volume_id, status)
            self.see(peer, volume_id)
        self.act(peer, volume_id, 'os-reset_status', {})
        self.remove(peer, volume_id)

    @base.same
    def test_a_volume_that_counts_as_migrating(self, peer):
        volume_id, attachment_id = self.in_use(peer)
        self.reset(peer, volume_id, 'migrating')
        self.act(peer, volume_id, 'os-retype', {'new_type': self.shared_type(peer)})
        body = {'snapshot': {'volume_id': volume_id, 'force': True}}
        peer.ask('POST', '/v3/snapshots', body)
        self.act(peer, volume_id, 'os-begin_detaching', {})
        self.see(peer, volume_id)
        self.act(peer, volume_id, 'os-roll_detaching', {})
        self.act(peer, volume_id, 'os-force_delete', {})
        self.end(peer, attachment_id)
        self.see(peer, volume_id)
        self.look(peer, volume_id)
        peer.ask('DELETE', f'/v3/volumes/{volume_id}')
        self.remove(peer, volume_id)
