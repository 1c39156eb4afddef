"""A tuned placement answers each kind of request as the real one does, and writes the same rows.

The requests are made by a story with the real one, of every route, at several microversions, with
arguments that are known, unknown, stale and malformed. Then the tuned one gets the same requests.
"""

import copy
import json
import re

import fixtures
from placement import db_api
from placement import handler
from placement.db.sqlalchemy import models
import requests
import sqlalchemy as sa
import testtools

from nova_lite.daemons.wsgi import placement
from nova_lite.lab import tuned_placement
from tests.fixtures import http
from tests.fixtures import templates

VERSIONS = ('1.0', '1.7', '1.19', '1.28', '1.39')
LATEST = VERSIONS[-1]
ROOT, CHILD, OTHER, MISSING = (f'{number:08d}-0000-4000-8000-000000000000' for number in range(4))
SERVER, MOVED, NEW = (f'{number:08d}-0000-4000-8000-000000000001' for number in range(3))
AGGREGATE = '00000000-0000-4000-8000-000000000002'
STOCK = {
    'VCPU': {'total': 8, 'max_unit': 4, 'allocation_ratio': 4.0},
    'MEMORY_MB': {'total': 1024, 'reserved': 24, 'step_size': 8},
    'DISK_GB': {'total': 100, 'min_unit': 2},
}
TRAITS = ['COMPUTE_NODE', 'CUSTOM_A', 'HW_CPU_X86_AVX']
OWNER = {'project_id': 'project', 'user_id': 'user', 'consumer_type': 'INSTANCE'}
BODIES = (None, {}, [], {'name': f'provider {ROOT}'}, {'resource_provider_generation': 99}, 'text')
# Routes that take whatever they get.
NEVER_REFUSED = {('GET', '/'), ('GET', ''), ('GET', '/allocations/{consumer_uuid}')}
# What differs between two answers to one request: times, its id, the name of the server.
OWN_HEADERS = ('last-modified', 'x-openstack-request-id', 'date')
OWN_NAMES = re.compile('req-[0-9a-f-]{36}|direct-[0-9]+[.]test')
TIMES = ('created_at', 'updated_at')


class Story:
    """Requests to the placement at a URL, which depend on its answers. sent: all of them"""

    def __init__(self, url):
        self.url, self.sent = url, []

    def send(self, method, path, body=None, version=LATEST):
        """Send a request. Return the response."""
        self.sent.append((method, path, copy.deepcopy(body), version))
        return sent(self.url, self.sent[-1])

    def try_out(self, method, path, body=None):
        """Send a request that may be refused, each time at another microversion."""
        self.send(method, path, body, version=VERSIONS[len(self.sent) % len(VERSIONS)])

    def must(self, *request, **options):
        """Send a request that succeeds."""
        response = self.send(*request, **options)
        if not response.ok:
            raise AssertionError(f'{request}: {response.status_code} {response.text}')
        return response

    def put(self, provider, part, **body):
        """Replace a part of a provider, at its generation."""
        path = f'/resource_providers/{provider}'
        generation = self.must('GET', path).json()['generation']
        self.must('PUT', f'{path}/{part}', {**body, 'resource_provider_generation': generation})

    def play(self):
        """Send everything."""
        self.make_providers()
        self.ask_all('/resource_providers')
        self.claim()
        self.ask_for_candidates()
        self.ask_all('/allocations')
        self.refused()
        self.move()
        self.remove()

    def make_providers(self):
        """Make names, providers, their inventories, traits and aggregates."""
        for name in ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_A'):
            self.must('PUT', f'/traits/{name}')
            self.must('PUT', f'/resource_classes/{name}')
        self.must('POST', '/resource_classes', {'name': 'CUSTOM_C'})
        self.send('POST', '/resource_classes', {'name': 'CUSTOM_C'})
        self.must('PUT', '/resource_classes/CUSTOM_B', {'name': 'CUSTOM_D'}, version='1.2')
        for uuid, parent in ((ROOT, None), (CHILD, ROOT), (OTHER, None)):
            body = {'name': f'provider {uuid}', 'uuid': uuid, 'parent_provider_uuid': parent}
            self.must('POST', '/resource_providers', body)
            self.send('POST', '/resource_providers', body)
        self.must('PUT', f'/resource_providers/{OTHER}', {'name': 'renamed'})
        path = f'/resource_providers/{ROOT}/inventories'
        self.must('POST', path, {'resource_class': 'CUSTOM_A', 'total': 2})
        self.must('PUT', f'{path}/CUSTOM_A', {'total': 3, 'resource_provider_generation': 1})
        self.must('DELETE', f'{path}/CUSTOM_A')
        self.must('DELETE', path)
        for uuid in (ROOT, OTHER):
            self.put(uuid, 'inventories', inventories=STOCK)
            self.put(uuid, 'aggregates', aggregates=[AGGREGATE])
        self.put(CHILD, 'inventories', inventories={'CUSTOM_A': {'total': 4}})
        for names in (TRAITS, TRAITS[1:], [*TRAITS, 'CUSTOM_B']):
            self.put(ROOT, 'traits', traits=names)
        self.put(OTHER, 'traits', traits=['CUSTOM_B'])
        self.must('DELETE', f'/resource_providers/{OTHER}/traits')

    def ask_all(self, path):
        """Send each query of what lies below a path."""
        for template, methods in handler.ROUTE_DECLARATIONS.items():
            if 'GET' in methods and template.startswith(path) and '{' in template:
                for one in (ROOT, CHILD, OTHER, SERVER, MISSING, 'no-uuid'):
                    self.try_out('GET', filled(template, one, 'VCPU'))

    def claim(self):
        """Claim, also too much and again."""
        for consumer, provider, vcpus in (
            (SERVER, ROOT, 3),
            (MOVED, OTHER, 4),
            (NEW, ROOT, 5),
            (NEW, ROOT, 4),
            (NEW, MISSING, 1),
        ):
            self.send('PUT', f'/allocations/{consumer}', claim(provider, vcpus))
        self.send('PUT', f'/allocations/{SERVER}', claim(ROOT, 2, generation=7))
        self.must('PUT', f'/allocations/{SERVER}', claim(ROOT, 2, generation=1))
        self.send('PUT', f'/allocations/{NEW}', claim(ROOT, 1) | {'consumer_type': 'OTHER'})
        for query in ('project_id=project', 'project_id=project&user_id=user', 'project_id=none'):
            for version in VERSIONS:
                self.send('GET', f'/usages?{query}', version=version)
        self.must('GET', '/usages?project_id=project&consumer_type=all')

    def ask_for_candidates(self):
        """Send queries that have parameters."""
        wanted = 'resources=VCPU:1,MEMORY_MB:8'
        for query in (
            wanted,
            f'{wanted}&limit=1',
            f'{wanted}&required=CUSTOM_A',
            f'{wanted}&required=!CUSTOM_A,HW_CPU_X86_AVX',
            f'{wanted}&required=in:CUSTOM_A,CUSTOM_B',
            f'{wanted}&required=CUSTOM_NONE',
            f'{wanted}&member_of={AGGREGATE}',
            f'{wanted}&member_of=!{AGGREGATE}',
            f'{wanted}&in_tree={OTHER}',
            f'{wanted}&resources_A=CUSTOM_A:1&group_policy=none',
            f'{wanted}&resources_A=CUSTOM_A:1&required_A=CUSTOM_B&group_policy=isolate',
            f'{wanted}&root_required=CUSTOM_A,!CUSTOM_B',
            'resources=VCPU:99',
            'resources=CUSTOM_NONE:1',
            'resources=VCPU',
            '',
        ):
            for path in ('/allocation_candidates', '/resource_providers'):
                for version in VERSIONS[-2:]:
                    self.send('GET', f'{path}?{query}', version=version)
        for path in ('/', '', '/traits', '/traits?name=startswith:CUSTOM', '/resource_classes'):
            for version in VERSIONS:
                self.send('GET', path, version=version)
        for path in ('/traits/CUSTOM_A', '/traits/CUSTOM_NONE', '/resource_classes/VCPU'):
            self.send('GET', path)
        self.send('GET', '/resource_classes/CUSTOM_NONE')
        for query in ('associated=true', 'associated=false', 'name=in:CUSTOM_A,CUSTOM_B', 'x=y'):
            self.send('GET', f'/traits?{query}')

    def refused(self):
        """Send each kind of request that writes with arguments that do not fit."""
        for template, methods in handler.ROUTE_DECLARATIONS.items():
            for method in sorted(methods.keys() - {'GET'}):
                for one in (ROOT, MISSING, 'no-uuid'):
                    for body in BODIES:
                        path = filled(template, one, 'CUSTOM_NONE')
                        self.try_out(method, path, body)
        path = f'/resource_providers/{ROOT}'
        generation = self.must('GET', path).json()['generation']
        for part, value in (
            ('traits', ['CUSTOM_A', 'CUSTOM_NONE']),
            ('inventories', {'VCPU': {'total': 8}, 'CUSTOM_NONE': {'total': 1}}),
            ('inventories', {'MEMORY_MB': STOCK['MEMORY_MB']}),
            ('inventories', {'VCPU': {'total': 1}}),
        ):
            body = {part: value, 'resource_provider_generation': generation}
            self.send('PUT', f'{path}/{part}', body)
        for path in ('/traits/CUSTOM_A', '/traits/COMPUTE_NODE', '/resource_classes/VCPU'):
            self.send('DELETE', path)
        for path in (f'/resource_providers/{ROOT}', f'/resource_providers/{ROOT}/inventories'):
            self.send('DELETE', path)

    def move(self):
        """Move allocations between consumers, several at once, and reshape."""
        empty = {'allocations': {}, **OWNER}
        moved = {
            SERVER: {**empty, 'consumer_generation': 2},
            NEW: claim(OTHER, 2) | {'consumer_generation': 1},
        }
        self.send('POST', '/allocations', moved)
        moved[NEW]['consumer_generation'] = None
        self.send('POST', '/allocations', moved)
        self.must('POST', '/allocations', {MISSING: claim(ROOT, 1)})
        self.must('DELETE', f'/allocations/{MISSING}')
        self.send('DELETE', f'/allocations/{MISSING}')
        generation = self.must('GET', f'/resource_providers/{CHILD}').json()['generation']
        for total in (5, 0):
            inventories = {
                CHILD: {
                    'inventories': {'CUSTOM_A': {'total': total}},
                    'resource_provider_generation': generation,
                }
            }
            self.send('POST', '/reshaper', {'inventories': inventories, 'allocations': {}})
        self.ask_all('/')

    def remove(self):
        """Delete everything that may be deleted."""
        for consumer in (SERVER, MOVED):
            self.send('DELETE', f'/allocations/{consumer}')
        for uuid in (CHILD, ROOT):
            self.send('DELETE', f'/resource_providers/{uuid}')
        for name in ('CUSTOM_A', 'CUSTOM_B'):
            self.send('DELETE', f'/traits/{name}')
            self.send('GET', f'/resource_providers?required={name}')
        self.must('DELETE', '/resource_classes/CUSTOM_C')
        self.must('PUT', '/traits/CUSTOM_Z')
        self.ask_all('/')


def filled(template, one, name):
    """Return a path of a route. one: a uuid; name: of a resource class or trait"""
    for field, value in (
        ('{uuid}', one),
        ('{consumer_uuid}', one),
        ('{resource_class}', name),
        ('{name}', name),
    ):
        template = template.replace(field, value)
    return template


def claim(provider, vcpus, generation=None):
    """Return the body of a claim."""
    resources = {'VCPU': vcpus, 'MEMORY_MB': 8 * vcpus}
    return {
        'allocations': {provider: {'resources': resources}},
        'consumer_generation': generation,
        **OWNER,
    }


def sent(url, request):
    """Send a request of a story. Return the response."""
    method, path, body, version = request
    headers = {'X-Auth-Token': 'admin', 'OpenStack-API-Version': f'placement {version}'}
    # Reshaping is for services alone.
    headers['X-Roles'] = 'admin,service'
    return requests.request(method, url + path, json=body, headers=headers)


def answer(response):
    """Return what is the same in each answer to one request: status, headers, body."""
    text = OWN_NAMES.sub('', response.text)
    found = {
        name.lower(): OWN_NAMES.sub('', value)
        for name, value in response.headers.items()
        if name.lower() not in OWN_HEADERS
    }
    try:
        text = ordered(json.loads(text))
    except ValueError:
        # It is a message, or nothing.
        text = text.strip()
    else:
        # That of an error depends on the length of the id.
        found.pop('content-length', None)
    return response.status_code, found, text


def ordered(value):
    """Return JSON without the order of lists, which placement leaves open."""
    if isinstance(value, dict):
        return {name: ordered(each) for name, each in value.items()}
    if isinstance(value, list):
        return sorted(map(ordered, value), key=repr)
    return value


def rows():
    """Return {table: rows} of placement's database, without the times and ids of rows."""
    with db_api.get_placement_engine().connect() as connection:
        return {
            table.name: sorted(
                [
                    tuple(value for name, value in row.items() if name not in TIMES)
                    for row in connection.execute(sa.select(table)).mappings()
                ],
                key=repr,
            )
            for table in models.BASE.metadata.sorted_tables
        }


def route_of(method, path):
    """Return the route that serves a request."""
    parts = path.partition('?')[0].split('/')
    for template, methods in handler.ROUTE_DECLARATIONS.items():
        pieces = template.split('/')
        if method not in methods or len(pieces) != len(parts):
            continue
        if all(a == b or a.startswith('{') for a, b in zip(pieces, parts, strict=True)):
            return method, template
    raise LookupError(path)


class ContractTest(testtools.TestCase):
    """The real placement is the measure."""

    def start(self, **options):
        """Start placement over a new database. Return its URL."""
        directory = self.useFixture(fixtures.TempDir()).path
        url = templates.write(f'{directory}/placement.sqlite', templates.placement)
        app = placement.make_app(url, auth_strategy='noauth', **options)
        return self.useFixture(http.Direct({'/placement': app})).url + '/placement'

    def test_same_answers_and_rows(self):
        real = Story(self.start())
        heard = []
        real_send = real.send

        def send(*args, **options):
            response = real_send(*args, **options)
            heard.append(answer(response))
            return response

        real.send = send
        real.play()
        written = rows()
        for atomic in (True, False):
            url = self.start(tuning=tuned_placement.of(is_wanted=True, atomic=atomic))
            for number, (request, expected) in enumerate(zip(real.sent, heard, strict=True)):
                found = answer(sent(url, request))
                self.assertEqual(expected, found, f'{atomic=} {number} {request}')
            if not atomic:
                self.assertEqual(written, rows())
        self.check_kinds(real.sent, heard)

    def check_kinds(self, asked, heard):
        """Check that each route has succeeded and, unless it takes nothing, been refused."""
        good, bad = set(), set()
        for (method, path, _body, _version), (status, *_others) in zip(asked, heard, strict=True):
            if status != 405:
                (good if status < 400 else bad).add(route_of(method, path))
        routes = {
            (method, path)
            for path, methods in handler.ROUTE_DECLARATIONS.items()
            for method in methods
        }
        self.assertEqual(set(), routes - good)
        self.assertEqual(NEVER_REFUSED, routes - bad)
