"""simcloud's lists and members of images against those of the real Glance."""

from tests.peers import base
from tests.peers import callers
from tests.peers import images


class ImageListTest(images.ImagePeersTest):
    # ---- lists ----

    @base.same
    def test_lists(self, peer):
        # Each test has a project of its own here, so a list shows its images alone.
        peer.headers = callers.by({**callers.MEMBER, 'project': '2' * 32})
        self.image(peer, 'a', min_disk=5, tags=['x', 'y'], colour='blue')
        self.active(peer, 'b', min_ram=9, disk_format='aki', container_format='aki')
        self.image(peer, 'c', visibility='private', tags=['x'])
        self.image(peer, 'd', os_hidden=True, protected=True)
        mine = 'owner=' + '2' * 32
        name = self._testMethodName
        for query in (
            'sort=name:asc',
            'sort=name:desc',
            'sort_key=name&sort_dir=asc',
            'sort_key=status&sort_dir=desc&sort_key=name&sort_dir=asc',
            'sort=status:desc,name:asc',
            'sort=name:asc&limit=2',
            'sort=name:asc&limit=3',
            'sort=name:asc&limit=0',
            f'name={name}-a',
            f'name=in:{name}-a,{name}-b&sort=name',
            'status=active',
            'status=in:active,queued&sort=name:asc',
            'visibility=private',
            'visibility=shared&sort=name:asc',
            'tag=x&sort=name:asc',
            'tag=x&tag=y',
            'os_hidden=true',
            'protected=true&os_hidden=true',
            'protected=false&sort=name:asc',
            'disk_format=aki',
            'container_format=bare&sort=name:asc',
            'min_disk=5',
            'min_ram=9',
            'size_min=1',
            'size_max=1',
            'colour=blue',
            'colour=red',
            'created_at=gt:2020-01-01T00:00:00Z&sort=name:asc',
            'created_at=lt:2020-01-01T00:00:00Z',
        ):
            peer.ask('GET', f'/v2/images?{mine}&{query}')

    @base.same
    def test_pages(self, peer):
        peer.headers = callers.by({**callers.MEMBER, 'project': '3' * 32})
        for name in ('a', 'b', 'c'):
            self.image(peer, name, visibility='private')
        path = '/v2/images?visibility=private&sort=name:asc&limit=2'
        while path:
            path = peer.ask('GET', path).json().get('next')

    @base.same
    def test_refused_lists(self, peer):
        for query in (
            'limit=-1',
            'limit=x',
            'sort=nothing',
            'sort=min_disk',
            'sort=owner',
            'sort=visibility',
            'sort=name:up',
            'sort_key=nothing',
            'sort_dir=up',
            'sort=name&sort_key=name',
            'marker=nothing',
            f'marker={callers.NOWHERE}',
            'visibility=secret',
            'member_status=nothing',
            'protected=x',
            'os_hidden=x',
            'size_min=x',
            'size_min=-1&name=none',
            'min_disk=x&name=none',
            'created_at=x',
            'created_at=up:2020-01-01T00:00:00Z',
            'name=in:"x',
        ):
            peer.ask('GET', f'/v2/images?{query}')

    # ---- members ----

    @base.same
    def test_members(self, peer):
        path = self.image(peer, visibility='shared')
        there, stranger = (
            f'{path}/members/{callers.STRANGER["project"]}',
            callers.by(callers.STRANGER),
        )
        peer.ask('GET', f'{path}/members')
        for _again in range(2):
            peer.ask('POST', f'{path}/members', {'member': callers.STRANGER['project']})
        peer.ask('GET', f'{path}/members')
        peer.ask('GET', there)
        peer.ask('PUT', there, {'status': 'accepted'})
        for status in ('accepted', 'rejected', 'pending', 'nothing'):
            peer.ask('PUT', there, {'status': status}, headers=stranger)
        for method, where in (('GET', path), ('GET', f'{path}/members'), ('GET', there)):
            peer.ask(method, where, headers=stranger)
        peer.ask('DELETE', path, headers=stranger)
        peer.ask('DELETE', there, headers=stranger)
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, there)

    @base.same
    def test_refused_members(self, peer):
        path = self.image(peer)
        private = self.image(peer, 'private', visibility='private')
        for body in ({}, {'member': ''}, {'member': 1}, {'member': None}, []):
            peer.ask('POST', f'{path}/members', body)
        peer.ask('POST', f'{private}/members', {'member': callers.STRANGER['project']})
        peer.ask('GET', f'{private}/members')
        peer.ask(
            'POST', f'/v2/images/{callers.NOWHERE}/members', {'member': callers.STRANGER['project']}
        )
        peer.ask('GET', f'{path}/members', headers=callers.by(callers.STRANGER))
        peer.ask('PUT', f'{path}/members/{callers.STRANGER["project"]}', {'status': 'accepted'})

    @base.same
    def test_lists_of_shared_images(self, peer):
        path = self.image(peer, visibility='shared')
        project = '4' * 32
        peer.ask('POST', f'{path}/members', {'member': project})
        peer.headers = callers.by({**callers.STRANGER, 'project': project})
        for query in ('', '&member_status=pending', '&member_status=all'):
            peer.ask('GET', f'/v2/images?visibility=shared{query}')
        peer.ask('PUT', f'{path}/members/{project}', {'status': 'accepted'})
        peer.ask('GET', '/v2/images?visibility=shared')
