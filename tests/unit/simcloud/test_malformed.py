"""Whatever is sent to whichever route, the answer is never a 5xx.

Each route gets some of the odd values with each commit, and all of them at night, where
NOVA_LITE_TEST_EXAMPLES is set.
"""

from hypothesis import given
from hypothesis import strategies as st

from nova_lite.simcloud import bodies
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.network import floating_ips
from nova_lite.simcloud.network import ports
from nova_lite.simcloud.network import rbac
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import security_rules
from nova_lite.simcloud.network import subnet_pools
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import trunks
from nova_lite.simcloud.share import access
from nova_lite.simcloud.share import locks
from nova_lite.simcloud.share import shares
from nova_lite.simcloud.volume import backups
from nova_lite.simcloud.volume import volume_actions
from nova_lite.simcloud.volume import volumes
from tests.fixtures import examples
from tests.fixtures import hostile
from tests.unit.simcloud import base

ODD = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    '',
    'x',
    'ünï',
    '\0',
    '\ud800',
    'x' * 70000,
    [],
    {},
    [[]],
    {'': None},
    {'a': {'b': []}},
)
# Levels of lists, near the most that can be parsed.
DEEP = (bodies.LEVELS, 100, *range(920, 1000, 4))
RAW = (b'', b'{', b'\xff\xfe', b'[' * 100000, b'NaN', b'{"a": 1e999}', b'null')
QUERIES = (
    'limit=a',
    'limit=-1',
    'limit=99999999999999999999',
    'marker=%00',
    'sort_key=%ff',
    'sort_key=',
    'sort=a:b:c',
    'fields=',
    'name=%00',
    'name=%f0%28',
    'id=' + 'x' * 5000,
    'all_tenants=maybe',
    'all_tenants=',
    'offset=x',
    'offset=99999999999999999999',
    'shared=',
    'size=1e9',
    'created_at=x:y',
    'fixed_ips=',
    'page_reverse=x',
    'tags=%22',
    'tag=%5c%27',
    'mtu=99999999999999999999',
    "name='",
    'name~=%25',
    'bootable=2',
)
# Routes whose well-formed relatives are worth trying: (method, path, key, schema).
WRITES = tuple(
    (path, key, validator.schema['properties'][key]['properties'])
    for path, key, validator in (
        ('/network/v2.0/ports', 'port', ports.CREATE),
        ('/network/v2.0/subnets', 'subnet', subnets.CREATE),
        ('/network/v2.0/subnetpools', 'subnetpool', subnet_pools.CREATE),
        ('/network/v2.0/routers', 'router', routers.BODY),
        ('/network/v2.0/rbac-policies', 'rbac_policy', rbac.CREATE),
        ('/network/v2.0/trunks', 'trunk', trunks.CREATE),
        ('/network/v2.0/floatingips', 'floatingip', floating_ips.CREATE),
        ('/network/v2.0/security-group-rules', 'security_group_rule', security_rules.CREATE),
        ('/volume/v3/volumes', 'volume', volumes.CREATE),
        ('/volume/v3/backups', 'backup', backups.CREATE),
        ('/share/v2/shares', 'share', shares.CREATE),
        ('/share/v2/resource-locks', 'resource_lock', locks.CREATE),
    )
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(hostile.CHARACTERS, max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(hostile.CHARACTERS, max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
ADDRESSES = st.sampled_from(
    ('10.1.0.9', '10.1.255.255', '0.0.0.0', '::', '300.1.1.1', '', '10.1.0.0/16', '2001:db8::/129')
)


# Found once, since it takes a second.
_routes = []


def routes(wsgi):
    """(number, method, path with an id in every place) of all routes."""
    if not _routes:
        _routes.extend(
            (method, falcon_path(template))
            for template, methods in wsgi.app.router.methods().items()
            for method in methods
        )
    return [(number, *each) for number, each in enumerate(_routes)]


def falcon_path(template):
    """The template with something that could be an id in each field."""
    parts = ['unknown' if part.startswith('{') else part for part in template.split('/')]
    return '/'.join(parts)


class MalformedTestCase(base.SimCloudTestCase):
    """shares: into how many the values are divided, of which each route gets one"""

    shares = 5

    def setUp(self):
        super().setUp()
        self.image = self.image_id()
        self.shared = self.network_id('shared')

    def some(self, number, values):
        """A share of the values for the route of this number; all at night."""
        return values if examples.CHOSEN else values[number % self.shares :: self.shares]

    def check(self, method, path, **kwargs):
        headers = {
            **self.admin.headers,
            'Content-Type': 'application/json',
            'OpenStack-API-Version': 'volume 3.60',
            'X-OpenStack-Manila-API-Version': '2.82',
            **kwargs.pop('headers', {}),
        }
        result = self.wsgi.simulate_request(method, path, headers=headers, **kwargs)
        self.assertLess(result.status_code, 500, f'{method} {path} {kwargs}: {result.text}')
        return result

    def test_every_route_survives_odd_bodies(self):
        for number, method, path in routes(self.wsgi):
            if method in ('GET', 'HEAD', 'DELETE'):
                self.check(method, path)
                continue
            for raw in self.some(number, RAW):
                self.check(method, path, body=raw)
            for odd in self.some(number, ODD):
                for body in (
                    odd,
                    {'port': odd, 'network': odd, 'volume': odd},
                    {path.rsplit('/', 1)[-1].removesuffix('s'): odd},
                ):
                    self.check(method, path, body=base.json.dumps(body))

    def test_every_list_survives_odd_queries(self):
        for number, method, path in routes(self.wsgi):
            if method == 'GET':
                for query in self.some(number, QUERIES):
                    self.check(method, path, query_string=query)

    def test_lists_refuse_more_filters_than_the_database_takes(self):
        """SQLite takes about a thousand. Servers of databases take these."""
        tags = ','.join(f'{number}' for number in range(1200))
        for path in (
            f'/network/v2.0/ports?not-tags-any={tags}',
            '/image/v2/images?' + 'a=b&' * 1200,
        ):
            result = self.admin.raw('GET', path)
            if self.database.endswith('.sqlite'):
                self.assertEqual(400, result.status_code)
                self.assertIn('too many filters', result.text)
            else:
                self.assertEqual(200, result.status_code)

    def test_odd_headers(self):
        for value in ('volume 3.x', 'volume', ',', 'volume 3.60, compute', 'volume -1'):
            self.check('GET', '/volume/v3/volumes', headers={'OpenStack-API-Version': value})
        for name in ('X-Auth-Token', 'X-Subject-Token', 'X-Service-Token', 'If-Match'):
            self.check('GET', '/identity/v3/auth/tokens', headers={name: 'ü' * 300})

    def test_deep_bodies_are_refused(self):
        """Also those that are parsed, but whose values are too deep to be stored."""
        path = '/image/v2/metadefs/namespaces'
        self.admin.post(path, {'namespace': 'n'})
        for depth in (bodies.LEVELS - 1, *DEEP):
            named = f'{{"name": "p{depth}", "title": "t", "type": "array", "default": '
            body = f'{named}{"[" * depth}{"]" * depth}}}'
            result = self.check('POST', f'{path}/n/properties', body=body)
            self.assertEqual(201 if depth < bodies.LEVELS else 400, result.status_code)

    def test_oversize_bodies_are_refused(self):
        for path, limit in (
            ('/network/v2.0/ports', bodies.JSON_LIMIT_BYTES),
            ('/identity/v3/auth/tokens', bodies.UNKNOWN_LIMIT_BYTES),
        ):
            for size, expected in ((limit, 400), (limit + 1, 413)):
                result = self.check('POST', path, body=b' ' * size)
                self.assertEqual(expected, result.status_code)

    @examples.settings(40)
    @given(st.data())
    def test_writes_survive_near_misses(self, data):
        path, key, properties = data.draw(st.sampled_from(WRITES))
        ids = [self.shared, 'unknown', self.image]
        values = st.sampled_from(ids) | ADDRESSES | JSON
        body = data.draw(st.dictionaries(st.sampled_from(sorted(properties)), values, max_size=6))
        if 'network_id' in properties:
            body.setdefault('network_id', self.shared)
        self.check('POST', path, body=base.json.dumps({key: body}))

    @examples.settings(15)
    @given(st.sampled_from(sorted(volume_actions.ACTIONS)), JSON)
    def test_actions_survive_odd_values(self, action, value):
        made = self.demo.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)
        self.check(
            'POST',
            f'/volume/v3/volumes/{made["volume"]["id"]}/action',
            body=base.json.dumps({action: value}),
        )

    @examples.settings(15)
    @given(
        st.dictionaries(
            st.sampled_from(
                sorted(access.ALLOW.schema['properties']['allow_access']['properties'])
            ),
            st.sampled_from(['ip', 'cephx', '10.0.0.1', 'rw', True]) | JSON,
            max_size=4,
        )
    )
    def test_access_rules_survive_odd_values(self, values):
        made = self.demo.post(
            '/share/v2/shares', {'share': {'size': 1, 'share_proto': 'NFS'}}, expect=200
        )
        self.check(
            'POST',
            f'/share/v2/shares/{made["share"]["id"]}/action',
            body=base.json.dumps({'allow_access': values}),
        )

    @examples.settings(15)
    @given(
        st.lists(
            st.fixed_dictionaries(
                {
                    'op': st.sampled_from(('add', 'replace', 'remove')),
                    'path': st.sampled_from([f'/{name}' for name in (*fields.SETTABLE, 'p', 'id')]),
                    'value': JSON,
                }
            ),
            max_size=4,
        )
    )
    def test_patches_survive_odd_values(self, changes):
        self.check(
            'PATCH',
            f'/image/v2/images/{self.image}',
            body=base.json.dumps(changes),
            headers={'Content-Type': 'application/openstack-images-v2.1-json-patch'},
        )
