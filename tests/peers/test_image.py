"""simcloud's image service against the real Glance; test_image_lists has its lists."""

from nova_lite.simcloud.image import qcow2
from tests.peers import base
from tests.peers import callers
from tests.peers import images

GIB = 2**30


class ImageTest(images.ImagePeersTest):
    # ---- versions and schemas ----

    @base.same
    def test_versions(self, peer):
        for path in ('/', '', '/versions', '/v2', '/v2/', '/v3/images', '/v2/nothing'):
            peer.ask('GET', path)

    @base.same
    def test_what_the_site_offers(self, peer):
        for path in ('/v2/info/import', '/v2/info/stores', '/v2/info/usage'):
            peer.ask('GET', path)

    @base.same
    def test_schemas(self, peer):
        for name in ('image', 'images', 'member', 'members', 'nothing'):
            peer.ask('GET', f'/v2/schemas/{name}')
        for one, several in (
            ('namespace', 'namespaces'),
            ('object', 'objects'),
            ('property', 'properties'),
            ('resource_type', 'resource_types'),
            ('tag', 'tags'),
            ('nothing', 'no/thing'),
        ):
            for name in (one, several):
                peer.ask('GET', f'/v2/schemas/metadefs/{name}')

    # ---- create and show ----

    @base.same
    def test_create_and_show(self, peer):
        path = self.image(peer)
        peer.ask('GET', path)
        everything = {
            'min_disk': 1,
            'min_ram': 64,
            'protected': False,
            'os_hidden': True,
            'visibility': 'private',
            'tags': ['b', 'a'],
            'os_distro': 'debian',
            'colour': 'blue',
        }
        self.image(peer, 'full', **everything)
        peer.ask('POST', '/v2/images', {})
        peer.ask('POST', '/v2/images', {'name': None, 'disk_format': None})
        peer.ask('GET', f'/v2/images/{callers.NOWHERE}')
        peer.ask('GET', '/v2/images/nothing')

    @base.same
    def test_an_id_that_is_given(self, peer):
        wanted = {'id': '12345678-1234-4234-8234-123456789abc', 'name': 'x'}
        for _again in range(2):
            peer.ask('POST', '/v2/images', wanted)
        peer.ask('DELETE', f'/v2/images/{wanted["id"]}')
        peer.ask('POST', '/v2/images', wanted)

    @base.same
    def test_data_of_a_format(self, peer):
        """The data must be of the format that the image claims, or the image raw."""
        disk = qcow2.empty_disk(GIB)
        for number, (claimed, data) in enumerate(
            (
                ('qcow2', b''),
                ('qcow2', images.DATA),
                ('qcow2', disk),
                ('raw', b''),
                ('raw', disk),
                ('iso', images.DATA),
                ('vmdk', disk),
                ('ploop', images.DATA),
                ('ploop', disk),
            )
        ):
            path = self.image(peer, str(number), disk_format=claimed)
            answer = peer.ask('PUT', f'{path}/file', data=data, headers=images.OCTETS)
            # Glance keeps the checksum of data that it has refused.
            if answer.ok:
                peer.ask('GET', path)
        several = self.image(peer, 'ovf', container_format='ovf', disk_format='vmdk')
        peer.ask('PUT', f'{several}/file', data=disk, headers=images.OCTETS)
        peer.ask('GET', several)

    @base.same
    def test_refused_images(self, peer):
        for values in (
            {'name': 1},
            {'name': 'x' * 256},
            {'id': 'x'},
            {'visibility': 'secret'},
            {'visibility': 'public'},
            {'disk_format': 'nothing'},
            {'container_format': 'nothing'},
            {'min_disk': -1},
            {'min_disk': 'x'},
            {'min_ram': -1},
            {'protected': 'yes'},
            {'tags': 'x'},
            {'tags': ['x' * 256]},
            {'status': 'active'},
            {'size': 1},
            {'checksum': 'x'},
            {'created_at': 'x'},
            {'owner': callers.STRANGER['project']},
            {'colour': 1},
            {'colour': None},
            {'': 'x'},
            [],
        ):
            peer.ask('POST', '/v2/images', values)
        for data in ('{', '', 'null'):
            headers = {'Content-Type': 'application/json'}
            peer.ask('POST', '/v2/images', data=data, headers=headers)

    # ---- data ----

    @base.same
    def test_upload_and_download(self, peer):
        path = self.image(peer)
        peer.ask('GET', f'{path}/file')
        peer.ask('PUT', f'{path}/file', data=images.DATA, headers=images.OCTETS)
        peer.ask('GET', path)
        answer = peer.ask('GET', f'{path}/file')
        self.assertEqual(images.DATA, answer.content)
        self.assertEqual(str(len(images.DATA)), answer.headers['Content-Length'])
        peer.ask('PUT', f'{path}/file', data=images.DATA, headers=images.OCTETS)
        peer.ask('GET', f'/v2/images/{callers.NOWHERE}/file')

    @base.same
    def test_an_upload_in_chunks(self, peer):
        path = self.image(peer)
        pieces = (images.DATA[start : start + 1000] for start in range(0, len(images.DATA), 1000))
        peer.ask('PUT', f'{path}/file', data=pieces, headers=images.OCTETS)
        peer.ask('GET', path)
        self.assertEqual(images.DATA, peer.ask('GET', f'{path}/file').content)

    @base.same
    def test_an_image_of_no_bytes(self, peer):
        path = self.image(peer)
        peer.ask('PUT', f'{path}/file', data=b'', headers=images.OCTETS)
        peer.ask('GET', path)
        peer.ask('GET', f'{path}/file')

    @base.same
    def test_refused_uploads(self, peer):
        path = self.image(peer)
        peer.ask('PUT', f'{path}/file', data=images.DATA, headers={'Content-Type': 'text/plain'})
        peer.ask('PUT', f'{path}/file', data=images.DATA)
        peer.ask('GET', path)
        bare = self.image(peer, 'bare', disk_format=None, container_format=None)
        peer.ask('PUT', f'{bare}/file', data=images.DATA, headers=images.OCTETS)
        peer.ask('GET', bare)
        peer.ask(
            'PUT', f'/v2/images/{callers.NOWHERE}/file', data=images.DATA, headers=images.OCTETS
        )
        peer.headers = callers.by(callers.STRANGER)
        peer.ask('PUT', f'{path}/file', data=images.DATA, headers=images.OCTETS)

    @base.same
    def test_part_of_the_data(self, peer):
        path = self.active(peer)
        for part in ('bytes=0-9', 'bytes=10-', 'bytes=-5', 'bytes=99999-', 'nothing'):
            peer.ask('GET', f'{path}/file', headers={'Range': part})

    @base.same
    def test_deactivation(self, peer):
        path = self.active(peer)
        queued = self.image(peer, 'queued')
        for action in ('deactivate', 'reactivate'):
            peer.ask('POST', f'{path}/actions/{action}')
            for who in (callers.STRANGER, callers.READER):
                peer.ask('POST', f'{path}/actions/{action}', headers=callers.by(who))
        peer.headers = callers.by(callers.ADMINISTRATOR)
        for action in ('deactivate', 'deactivate'):
            peer.ask('POST', f'{path}/actions/{action}')
        peer.ask('GET', path)
        peer.ask('GET', f'{path}/file')
        peer.ask('GET', f'{path}/file', headers=callers.by(callers.MEMBER))
        for action in ('reactivate', 'reactivate', 'nothing'):
            peer.ask('POST', f'{path}/actions/{action}')
        peer.ask('GET', path)
        for action in ('deactivate', 'reactivate'):
            peer.ask('POST', f'{queued}/actions/{action}')
            peer.ask('POST', f'/v2/images/{callers.NOWHERE}/actions/{action}')

    @base.same
    def test_import(self, peer):
        path = self.image(peer)
        peer.ask('POST', f'{path}/import', {'method': {'name': 'nothing'}})
        peer.ask('POST', f'{path}/import', {})
        peer.ask('GET', f'{path}/tasks')
        peer.ask('GET', f'{path}/locations')

    # ---- patch ----

    @base.same
    def test_patches(self, peer):
        path = self.image(peer, colour='blue')
        for change in (
            {'op': 'replace', 'path': '/name', 'value': 'new'},
            {'op': 'replace', 'path': '/min_disk', 'value': 3},
            {'op': 'add', 'path': '/shape', 'value': 'round'},
            {'op': 'add', 'path': '/shape', 'value': 'square'},
            {'op': 'replace', 'path': '/colour', 'value': 'red'},
            {'op': 'remove', 'path': '/colour'},
            {'op': 'replace', 'path': '/tags', 'value': ['x', 'x', 'y']},
            {'op': 'replace', 'path': '/visibility', 'value': 'private'},
            {'op': 'replace', 'path': '/protected', 'value': True},
            {'op': 'replace', 'path': '/os_hidden', 'value': True},
            {'op': 'replace', 'path': '/disk_format', 'value': 'qcow2'},
            {'op': 'add', 'path': '/a~1b~0c', 'value': 'x'},
        ):
            self.patch(peer, path, change)
        self.patch(
            peer,
            path,
            {'op': 'replace', 'path': '/name', 'value': 'two'},
            {'op': 'add', 'path': '/size_of', 'value': 'x'},
        )
        self.patch(peer, path)

    @base.same
    def test_refused_patches(self, peer):
        path = self.image(peer, colour='blue')
        for change in (
            {'op': 'replace', 'path': '/nothing', 'value': 'x'},
            {'op': 'remove', 'path': '/nothing'},
            {'op': 'remove', 'path': '/name'},
            {'op': 'remove', 'path': '/tags'},
            {'op': 'replace', 'path': '/id', 'value': callers.NOWHERE},
            {'op': 'replace', 'path': '/status', 'value': 'active'},
            {'op': 'replace', 'path': '/size', 'value': 1},
            {'op': 'replace', 'path': '/owner', 'value': callers.STRANGER['project']},
            {'op': 'replace', 'path': '/visibility', 'value': 'public'},
            {'op': 'replace', 'path': '/visibility', 'value': 'secret'},
            {'op': 'replace', 'path': '/min_disk', 'value': -1},
            {'op': 'replace', 'path': '/protected', 'value': 'x'},
            {'op': 'replace', 'path': '/colour', 'value': 1},
            {'op': 'replace', 'path': '/colour'},
            {'op': 'replace', 'path': 'colour', 'value': 'x'},
            {'op': 'replace', 'path': '/colour/deep', 'value': 'x'},
            {'op': 'replace', 'path': '/', 'value': 'x'},
            {'op': 'move', 'path': '/colour', 'from': '/shape'},
            {'op': 'replace', 'value': 'x'},
            {'path': '/colour', 'value': 'x'},
            {'op': 'add', 'path': '/locations', 'value': []},
        ):
            self.patch(peer, path, change)
        peer.ask('PATCH', path, {}, headers=images.PATCH)
        peer.ask('PATCH', path, [])
        peer.ask('PATCH', f'/v2/images/{callers.NOWHERE}', [], headers=images.PATCH)
        old = {'Content-Type': 'application/openstack-images-v2.0-json-patch'}
        peer.ask('PATCH', path, [{'replace': '/name', 'value': 'old'}], headers=old)
        peer.ask('GET', path)

    @base.same
    def test_formats_of_an_active_image(self, peer):
        path = self.active(peer)
        self.patch(peer, path, {'op': 'replace', 'path': '/disk_format', 'value': 'qcow2'})
        self.patch(peer, path, {'op': 'replace', 'path': '/disk_format', 'value': 'raw'})
        self.patch(peer, path, {'op': 'replace', 'path': '/min_ram', 'value': 5})

    # ---- delete ----

    @base.same
    def test_delete(self, peer):
        path = self.active(peer)
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, path)
        path = self.image(peer, 'protected', protected=True)
        peer.ask('DELETE', path)
        self.patch(peer, path, {'op': 'replace', 'path': '/protected', 'value': False})
        peer.ask('DELETE', path, headers=callers.by(callers.STRANGER))
        peer.ask('DELETE', path, headers=callers.by(callers.READER))
        peer.ask('DELETE', path)

    # ---- tags ----

    @base.same
    def test_tags(self, peer):
        path = self.image(peer)
        for tag in ('x', 'x', 'a%20b', 'y' * 255, 'y' * 256):
            peer.ask('PUT', f'{path}/tags/{tag}')
        peer.ask('GET', path)
        peer.ask('DELETE', f'{path}/tags/x', headers=callers.by(callers.STRANGER))
        for _again in range(2):
            peer.ask('DELETE', f'{path}/tags/x')
        peer.ask('PUT', f'/v2/images/{callers.NOWHERE}/tags/x')

    # ---- who may ----

    @base.same
    def test_who_sees_what(self, peer):
        private = self.image(peer, 'private', visibility='private')
        community = self.image(peer, 'community', visibility='community')
        for who in (callers.STRANGER, callers.READER, callers.ADMINISTRATOR):
            peer.headers = callers.by(who)
            for path in (private, community):
                peer.ask('GET', path)
                change = {'op': 'replace', 'path': '/name', 'value': 'x'}
                self.patch(peer, path, change)
        peer.headers = callers.by(callers.READER)
        peer.ask('POST', '/v2/images', images.FORMATS)
        peer.headers = callers.by(callers.ADMINISTRATOR)
        public = self.image(peer, 'public', visibility='public')
        peer.headers = callers.by(callers.STRANGER)
        peer.ask('GET', public)
        peer.ask('DELETE', public)

    @base.same
    def test_methods_that_are_not_there(self, peer):
        path = self.image(peer)
        for method, where in (
            ('PUT', '/v2/images'),
            ('POST', path),
            ('POST', f'{path}/file'),
            ('GET', f'{path}/actions/deactivate'),
            ('GET', f'{path}/tags/x'),
            ('DELETE', f'{path}/members'),
            ('DELETE', '/v2/schemas/image'),
        ):
            peer.ask(method, where)
