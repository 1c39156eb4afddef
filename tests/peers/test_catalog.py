"""simcloud's services, endpoints and regions against the real Keystone's."""

import requests

from tests.peers import base
from tests.peers import identity


class CatalogTest(identity.IdentityPeersTest):
    def service(self, peer, **values):
        values = {'type': self._testMethodName, 'name': f'{self._testMethodName}-name', **values}
        return peer.made('/v3/services', {'service': values})['id']

    @staticmethod
    def endpoint(peer, service, interface='public', **values):
        values = {'url': 'http://127.0.0.1:1/v1', **values}
        body = {'service_id': service, 'interface': interface, **values}
        return peer.made('/v3/endpoints', {'endpoint': body})['id']

    def region(self, peer, name='region', **values):
        region = f'{self._testMethodName}-{name}'
        peer.ask('POST', '/v3/regions', {'region': {'id': region, **values}})
        return region

    def note_catalog(self, peer, token=None):
        """Compare what the test's services are in a token, and in the catalog for it."""
        token = token or peer.headers['X-Auth-Token']
        headers = {'X-Auth-Token': token, 'X-Subject-Token': token}
        answers = [
            requests.get(f'{peer.url}/v3/auth/{name}', headers=headers, timeout=60).json()
            for name in ('tokens', 'catalog')
        ]
        for found in (answers[0]['token'], answers[1]):
            found = {'links': found.get('links'), 'catalog': found.get('catalog') or ()}
            ours = [one for one in found['catalog'] if one['type'].startswith(self._testMethodName)]
            for one in ours:
                one['endpoints'].sort(key=lambda each: each['url'])
            peer.note('a catalog', {**found, 'catalog': ours})

    @base.same
    def test_services(self, peer):
        first = self.service(peer)
        second = self.service(peer, name='second', description='of two', colour='blue')
        self.service(peer, name='third', enabled=False)
        peer.ask('POST', '/v3/services', {'service': {'type': f'{self._testMethodName}-2'}})
        for query in (f'type={self._testMethodName}', 'name=second', 'type=none'):
            peer.ask('GET', f'/v3/services?{query}')
        self.note_catalog(peer)
        path = f'/v3/services/{first}'
        for changes in (
            {'name': 'other', 'description': 'new', 'shape': 'round'},
            {'enabled': False},
            {'type': f'{self._testMethodName}-3', 'enabled': True},
            {'id': first},
        ):
            peer.ask('PATCH', path, {'service': changes})
        peer.ask('GET', path)
        self.note_catalog(peer)
        self.endpoint(peer, second)
        peer.ask('DELETE', f'/v3/services/{second}')
        peer.ask('GET', f'/v3/endpoints?service_id={second}')
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, path)
        self.note_catalog(peer)

    @base.same
    def test_refused_services(self, peer):
        service = self.service(peer)
        for values in (
            {},
            {'name': 'x'},
            {'type': ''},
            {'type': 'x' * 256},
            {'type': None},
            {'type': 1},
            {'type': 'x', 'name': ''},
            {'type': 'x', 'name': None},
            {'type': 'x', 'name': 'x' * 256},
            {'type': 'x', 'enabled': 'yes'},
            {'type': 'x', 'enabled': None},
        ):
            peer.ask('POST', '/v3/services', {'service': values})
        for changes in ({}, {'type': ''}, {'name': ''}, {'enabled': 1}, {'id': identity.NOWHERE}):
            peer.ask('PATCH', f'/v3/services/{service}', {'service': changes})
        peer.ask('PATCH', f'/v3/services/{identity.NOWHERE}', {'service': {'name': 'x'}})
        peer.ask('DELETE', f'/v3/services/{identity.NOWHERE}')

    @base.same
    def test_endpoints(self, peer):
        service, region = self.service(peer), self.region(peer)
        url = 'http://127.0.0.1:2/v3/$(project_id)s/%(user_id)s'
        first = self.endpoint(peer, service, region_id=region, url=url)
        self.endpoint(peer, service, 'internal', name='second', description=None)
        self.endpoint(peer, service, 'admin', region=f'{region}-new', enabled=False)
        peer.ask('GET', f'/v3/regions/{region}-new')
        for query in ('', '&interface=public', f'&region_id={region}', '&interface=admin'):
            peer.ask('GET', f'/v3/endpoints?service_id={service}{query}')
        self.note_catalog(peer)
        user, project = self.member(peer)
        domain, role = self.domain(peer), self.role(peer)
        peer.ask('PUT', f'/v3/domains/{domain}/users/{user}/roles/{role}')
        for scope in ({'project': {'id': project}}, {'domain': {'id': domain}}):
            self.note_catalog(peer, self.token(peer, identity.login({'id': user}, **scope)))
        path = f'/v3/endpoints/{first}'
        for changes in (
            {'url': 'http://127.0.0.1:3/', 'interface': 'admin'},
            {'region_id': None, 'enabled': False, 'name': 'x', 'description': 'y'},
            {'region': region},
            {'enabled': True, 'url': 'http://127.0.0.1:3/$(unknown)s'},
        ):
            peer.ask('PATCH', path, {'endpoint': changes})
        peer.ask('GET', path)
        self.note_catalog(peer)
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, path)
        self.note_catalog(peer)

    @base.same
    def test_endpoints_of_a_project(self, peer):
        service, other = self.service(peer), self.service(peer, name='other')
        first, second = (self.endpoint(peer, service, name) for name in ('public', 'admin'))
        self.endpoint(peer, other)
        user, project = self.member(peer)
        of_project = f'/v3/OS-EP-FILTER/projects/{project}/endpoints'
        peer.ask('GET', of_project)
        for method in ('GET', 'DELETE', 'PUT', 'PUT', 'GET'):
            peer.ask(method, f'{of_project}/{first}')
        for endpoint in (first, second):
            peer.ask('GET', f'/v3/OS-EP-FILTER/endpoints/{endpoint}/projects')
        peer.ask('GET', of_project)
        body = identity.login({'id': user}, project={'id': project})
        self.note_catalog(peer, self.token(peer, body))
        nowhere = f'/v3/OS-EP-FILTER/projects/{identity.NOWHERE}/endpoints'
        for method in ('GET', 'PUT', 'DELETE'):
            peer.ask(method, f'{nowhere}/{first}')
            peer.ask(method, f'{of_project}/{identity.NOWHERE}')
        peer.ask('GET', nowhere)
        peer.ask('GET', f'/v3/OS-EP-FILTER/endpoints/{identity.NOWHERE}/projects')
        peer.ask('DELETE', f'/v3/endpoints/{first}')
        peer.ask('GET', of_project)
        self.note_catalog(peer, self.token(peer, body))
        peer.ask('PUT', f'{of_project}/{second}')
        peer.ask('DELETE', f'{of_project}/{second}')
        peer.headers['X-Auth-Token'] = self.token(peer, body)
        peer.ask('GET', of_project)
        peer.ask('PUT', f'{of_project}/{second}')
        peer.ask('DELETE', f'{of_project}/{second}')

    @base.same
    def test_refused_endpoints(self, peer):
        service = self.service(peer)
        good = {'interface': 'public', 'service_id': service, 'url': 'http://127.0.0.1:1/'}
        endpoint = self.endpoint(peer, service)
        for wrong in (
            *({name: None} for name in (*good, 'enabled')),
            {'interface': 'other'},
            {'service_id': identity.NOWHERE},
            {'region_id': identity.NOWHERE},
            {'region_id': 1},
            {'url': ''},
            {'url': '/v1'},
            {'url': 'http://' + 'x' * 219},
            {'url': 'http://127.0.0.1/$(unknown)s'},
            {'url': 'http://127.0.0.1/%'},
            {'enabled': 'yes'},
            {'name': 1},
            {'description': 1},
        ):
            peer.ask('POST', '/v3/endpoints', {'endpoint': {**good, **wrong}})
            peer.ask('PATCH', f'/v3/endpoints/{endpoint}', {'endpoint': wrong})
        for name in good:
            peer.ask('POST', '/v3/endpoints', {'endpoint': {k: good[k] for k in good if k != name}})
        peer.ask('PATCH', f'/v3/endpoints/{endpoint}', {'endpoint': {}})
        peer.ask('PATCH', f'/v3/endpoints/{endpoint}', {'endpoint': {'id': service}})
        peer.ask('PATCH', f'/v3/endpoints/{identity.NOWHERE}', {'endpoint': {'name': 'x'}})
        peer.ask('DELETE', f'/v3/endpoints/{identity.NOWHERE}')

    @base.same
    def test_regions(self, peer):
        top = self.region(peer, description='the top')
        middle = self.region(peer, 'middle', parent_region_id=top, colour='blue')
        self.region(peer, 'low', parent_region_id=middle)
        peer.ask('GET', f'/v3/regions?parent_region_id={top}')
        peer.ask('GET', f'/v3/regions/{middle}')
        path = f'/v3/regions/{top}'
        for changes in (
            {'description': None, 'shape': 'round'},
            {'parent_region_id': middle},
            {'parent_region_id': top},
            {'parent_region_id': identity.NOWHERE},
            {'id': 'x'},
        ):
            peer.ask('PATCH', path, {'region': changes})
        service = self.service(peer)
        endpoint = self.endpoint(peer, service, region_id=middle)
        peer.ask('DELETE', path)
        peer.ask('DELETE', f'/v3/endpoints/{endpoint}')
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, path)
        peer.ask('GET', f'/v3/regions/{middle}')

    @base.same
    def test_refused_regions(self, peer):
        region = self.region(peer)
        made = peer.made('/v3/regions', {'region': {}})['id']
        for values in (
            {'id': region},
            {'id': 'x' * 256},
            {'id': 1},
            {'id': f'{region}-2', 'parent_region_id': identity.NOWHERE},
            {'id': f'{region}-2', 'parent_region_id': ''},
            {'id': f'{region}-2', 'description': 1},
            {'id': f'{region}-2', 'description': 'x' * 256},
        ):
            peer.ask('POST', '/v3/regions', {'region': values})
        for changes in ({}, {'description': 1}, {'parent_region_id': ''}):
            peer.ask('PATCH', f'/v3/regions/{made}', {'region': changes})
        peer.ask('PATCH', f'/v3/regions/{identity.NOWHERE}', {'region': {'description': 'x'}})

    @base.same
    def test_what_members_may_not(self, peer):
        service, region = self.service(peer), self.region(peer)
        endpoint = self.endpoint(peer, service)
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        peer.headers['X-Auth-Token'] = token
        for kind, found in (('service', service), ('endpoint', endpoint), ('region', region)):
            path = f'/v3/{kind}s/{found}'
            peer.ask('GET', path)
            peer.ask('PATCH', path, {kind: {'description': 'x'}})
            peer.ask('DELETE', path)
        peer.ask('POST', '/v3/services', {'service': {'type': 'x'}})
        good = {'interface': 'public', 'service_id': service, 'url': 'http://127.0.0.1:1/'}
        peer.ask('POST', '/v3/endpoints', {'endpoint': good})
        peer.ask('POST', '/v3/regions', {'region': {'id': f'{region}-2'}})
