"""Attachments of simcloud's volume service against the real Cinder's."""

from tests.peers import base
from tests.peers import callers
from tests.peers import volumes

HERE, THERE = ({'host': name, 'mountpoint': '/dev/vdb'} for name in ('host-1', 'host-2'))
OTHER, SERVER = volumes.OTHER, volumes.SERVER


class VolumeTest(volumes.VolumePeersTest):
    def attached(self, peer, volume_id, server=SERVER, **connector):
        """The id of an attachment that is complete."""
        attachment_id = self.attach(peer, volume_id, server)
        self.connect(peer, attachment_id, **(connector or HERE))
        self.complete(peer, attachment_id)
        return attachment_id

    @base.same
    def test_life_of_an_attachment(self, peer):
        volume_id = self.volume(peer)
        attachment_id = self.attach(peer, volume_id)
        path = f'/v3/attachments/{attachment_id}'
        for step in (
            lambda: None,
            lambda: self.connect(peer, attachment_id, **HERE),
            lambda: self.connect(peer, attachment_id, **THERE),
            lambda: self.complete(peer, attachment_id),
            lambda: self.complete(peer, attachment_id),
            lambda: self.connect(peer, attachment_id, **HERE),
        ):
            step()
            peer.ask('GET', path)
            self.look(peer, volume_id)
        peer.ask('GET', f'/v3/attachments?instance_id={SERVER}&volume_id={volume_id}')
        peer.ask('DELETE', f'/v3/volumes/{volume_id}')
        self.end(peer, attachment_id)
        self.look(peer, volume_id)
        self.end(peer, attachment_id)
        peer.ask('GET', path)

    @base.same
    def test_with_a_connector(self, peer):
        volume_id = self.volume(peer)
        attachment_id = self.attach(peer, volume_id, connector={'host': 'host-1'})
        peer.ask('GET', f'/v3/attachments/{attachment_id}')
        self.complete(peer, attachment_id)
        peer.ask('GET', f'/v3/attachments/{attachment_id}')
        self.look(peer, volume_id)

    @base.same
    def test_second_host_of_a_server_that_moves(self, peer):
        volume_id = self.volume(peer)
        source = self.attached(peer, volume_id)
        empty = self.attach(peer, volume_id)
        self.look(peer, volume_id)
        for attachment_id, connector in ((empty, THERE), (empty, HERE), (source, HERE)):
            self.connect(peer, attachment_id, **connector)
            self.look(peer, volume_id)
        dest = self.attach(peer, volume_id, connector=THERE)
        self.look(peer, volume_id)
        self.attach(peer, volume_id, connector=THERE)
        self.attach(peer, volume_id)
        self.complete(peer, dest)
        for attachment_id in (empty, source, dest):
            self.end(peer, attachment_id)
            self.look(peer, volume_id)

    @base.same
    def test_a_move_that_is_undone(self, peer):
        volume_id = self.volume(peer)
        self.attached(peer, volume_id)
        self.end(peer, self.attach(peer, volume_id, connector=THERE))
        self.look(peer, volume_id)
        self.attach(peer, volume_id, connector=THERE)

    @base.same
    def test_a_server_that_leaves_its_host(self, peer):
        volume_id = self.volume(peer)
        source = self.attached(peer, volume_id)
        kept = self.attach(peer, volume_id)
        self.end(peer, source)
        self.look(peer, volume_id)
        self.attach(peer, volume_id, OTHER)
        new = self.attach(peer, volume_id)
        self.connect(peer, new, **THERE)
        self.connect(peer, kept, **THERE)
        self.complete(peer, new)
        self.end(peer, kept)
        self.look(peer, volume_id)

    @base.same
    def test_a_server_on_no_host(self, peer):
        """Its attachment is completed without a host, and replaced when it gets one."""
        volume_id = self.volume(peer)
        nowhere = self.attach(peer, volume_id)
        for _ in range(2):
            self.complete(peer, nowhere)
            peer.ask('GET', f'/v3/attachments/{nowhere}')
            self.look(peer, volume_id)
        self.attach(peer, volume_id, OTHER)
        given_up = self.attach(peer, volume_id)
        self.look(peer, volume_id)
        self.end(peer, given_up)
        self.look(peer, volume_id)
        new = self.attach(peer, volume_id)
        self.connect(peer, new, **HERE)
        self.complete(peer, new)
        self.look(peer, volume_id)
        self.end(peer, nowhere)
        self.look(peer, volume_id)

    @base.same
    def test_a_detachment_from_no_host(self, peer):
        volume_id = self.volume(peer)
        nowhere = self.attach(peer, volume_id)
        self.complete(peer, nowhere)
        self.end(peer, nowhere)
        self.look(peer, volume_id)
        # A project may have ten, and each other conversation keeps one.
        peer.ask('DELETE', f'/v3/volumes/{volume_id}')

    @base.same
    def test_several_servers(self, peer):
        volume_id = self.volume(peer, volume_type=self.shared_type(peer))
        first = self.attach(peer, volume_id)
        self.attach(peer, volume_id, OTHER)
        self.connect(peer, first, **HERE)
        self.attach(peer, volume_id, OTHER)
        self.complete(peer, first)
        second = self.attach(peer, volume_id, OTHER)
        self.look(peer, volume_id)
        self.connect(peer, second, **THERE)
        self.complete(peer, second)
        third = self.attach(peer, volume_id)
        self.connect(peer, third, **THERE)
        self.look(peer, volume_id)
        for attachment_id in (third, first, second):
            self.end(peer, attachment_id)
            self.look(peer, volume_id)

    @base.same
    def test_refused(self, peer):
        volume_id = self.volume(peer)
        self.attach(peer, callers.NOWHERE)
        self.attach(peer, volume_id, server='no-server')
        self.attach(peer, volume_id, server=None)
        self.attach(peer, volume_id, connector='no connector')
        self.attach(peer, 'no-volume')
        attachment_id = self.attach(peer, volume_id)
        self.attach(peer, volume_id, OTHER)
        self.connect(peer, callers.NOWHERE, **HERE)
        self.complete(peer, callers.NOWHERE)
        for body in ({}, {'attachment': {}}, {'attachment': {'connector': {}}}):
            peer.ask('PUT', f'/v3/attachments/{attachment_id}', body)
        peer.ask('POST', f'/v3/attachments/{attachment_id}/action', {'os-incomplete': {}})
        peer.headers.update(callers.by(callers.STRANGER))
        peer.ask('GET', f'/v3/attachments/{attachment_id}')
        self.attach(peer, volume_id)
        self.end(peer, attachment_id)

    @base.same
    def test_volume_in_error(self, peer):
        volume_id = self.volume(peer)
        attachment_id = self.attach(peer, volume_id)
        body = {'os-reset_status': {'status': 'error'}}
        peer.ask('POST', f'/v3/volumes/{volume_id}/action', body)
        self.attach(peer, volume_id)
        self.connect(peer, attachment_id, **HERE)
        self.end(peer, attachment_id)
        self.look(peer, volume_id)

    @base.same
    def test_extension(self, peer):
        """Of a volume in use only since 3.42."""
        volume_id = self.volume(peer)
        path, body = f'/v3/volumes/{volume_id}/action', {'os-extend': {'new_size': 2}}
        before = {'OpenStack-API-Version': 'volume 3.41'}
        self.attached(peer, volume_id)
        peer.ask('POST', path, body, headers=before)
        peer.ask('POST', path, body)
        peer.ask('POST', path, {'os-extend': {'new_size': 1}})

    @base.same
    def test_older_microversions(self, peer):
        volume_id = self.volume(peer)
        attachment_id = self.attach(peer, volume_id)
        for version in ('3.26', '3.27', '3.43'):
            headers = {'OpenStack-API-Version': f'volume {version}'}
            peer.ask('GET', f'/v3/attachments/{attachment_id}', headers=headers)
            body = {'os-complete': {}}
            peer.ask('POST', f'/v3/attachments/{attachment_id}/action', body, headers=headers)
