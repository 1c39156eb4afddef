"""The placement double of histories answers as real placement does, and writes the same rows."""

import fixtures
import testtools

from nova_lite.daemons.wsgi import placement
from tests.fixtures import http
from tests.fixtures import templates
from tests.sim.world.placement import double
from tests.unit.lab.tuned_placement import test_contract as contract

VERSION = double.VERSION.partition(' ')[2]


class Story(contract.Story):
    """The story of the tuned placement, and what the compute service asks for in other ways."""

    def send(self, method, path, body=None, version=None):
        if version == contract.VERSIONS[-2]:
            version = VERSION
        if 'consumer_type' in f'{path} {body}' and 'OTHER' not in f'{body}':
            version = version or contract.LATEST
            if method != 'GET':
                body, version = _untyped(body), VERSION
        return super().send(method, path, body, version or VERSION)

    def try_out(self, method, path, body=None):
        """Send a request that may be refused."""
        self.send(method, path, body)

    def play(self):
        self.make_providers()
        self.ask_all('/resource_providers')
        self.claim()
        self.ask_for_candidates()
        self.claim_flatly()
        self.ask_all('/allocations')
        self.refused()
        self.move()
        self.remove()

    def refused(self):
        """Send bodies that fit no request. The double leaves refusals to the real one."""
        for body in contract.BODIES:
            self.send('POST', '/allocations', body)
            self.send('PUT', f'/allocations/{contract.NEW}', body)

    def claim_flatly(self):
        """Ask and claim where no provider is below another."""
        self.must('DELETE', f'/resource_providers/{contract.CHILD}')
        self.ask_for_candidates()
        for path in ('', f'in_tree={contract.ROOT}', 'name=renamed', f'in_tree={contract.MISSING}'):
            self.send('GET', f'/resource_providers?{path}')
        self.send('GET', '/usages?project_id=project')
        held = contract.claim(contract.OTHER, 2)
        for generation in (None, None, 1, 2, 5):
            body = {**held, 'consumer_generation': generation}
            self.send('PUT', f'/allocations/{contract.MISSING}', body)
        self.ask_all('/resource_providers')
        for resources in ({'VCPU': 0}, {'CUSTOM_B': 1}, {'CUSTOM_NONE': 1}, {'DISK_GB': 1}, {}):
            part = {contract.OTHER: {'resources': resources}}
            body = {**held, 'allocations': part, 'consumer_generation': 3}
            self.send('PUT', f'/allocations/{contract.MISSING}', body)
        self.overcommit()
        for generation in (2, 3, None, None, 0):
            body = {**held, 'allocations': {}, 'consumer_generation': generation}
            self.send('PUT', f'/allocations/{contract.MISSING}', body)
        self.send('PUT', f'/allocations/{contract.MISSING}', {**held, 'consumer_generation': 0})
        self.must('DELETE', f'/allocations/{contract.MISSING}')
        body = {'name': 'again', 'uuid': contract.CHILD, 'parent_provider_uuid': contract.ROOT}
        self.must('POST', '/resource_providers', body)
        self.put(contract.CHILD, 'inventories', inventories={'CUSTOM_A': {'total': 4}})

    def overcommit(self):
        """Change allocations of a provider that has less than is used."""
        small = {**contract.STOCK, 'VCPU': {'total': 1, 'allocation_ratio': 1.0}}
        self.put(contract.OTHER, 'inventories', inventories=small)
        self.ask_for_candidates()
        for number, vcpus in enumerate((3, 2, 1), 3):
            body = contract.claim(contract.OTHER, vcpus, generation=number)
            self.send('PUT', f'/allocations/{contract.MISSING}', body)
        self.put(contract.OTHER, 'inventories', inventories=contract.STOCK)


def _untyped(body):
    """Return the entries of consumers as they were before these had types."""
    if 'allocations' not in body:
        return {uuid: _untyped(entry) for uuid, entry in body.items()}
    return {name: value for name, value in body.items() if name != 'consumer_type'}


class DoubleTest(testtools.TestCase):
    def start(self):
        """Start placement over a new database. Return (the application, the path of its file)."""
        directory = self.useFixture(fixtures.TempDir()).path
        path = f'{directory}/placement.sqlite'
        url = templates.write(path, templates.placement)
        return placement.make_app(url, auth_strategy='noauth'), path

    def serve(self, application):
        return self.useFixture(http.Direct({'/placement': application})).url + '/placement'

    def test_same_answers_and_rows(self):
        application, _path = self.start()
        real = Story(self.serve(application))
        heard = []
        send = real.send

        def noted(*args, **options):
            response = send(*args, **options)
            heard.append(contract.answer(response))
            return response

        real.send = noted
        real.play()
        written = contract.rows()
        doubled = double.Double(*self.start())
        url = self.serve(doubled)
        for number, (request, expected) in enumerate(zip(real.sent, heard, strict=True)):
            found = contract.answer(contract.sent(url, request))
            self.assertEqual(expected, found, f'{number} {request}')
        self.assertEqual(written, contract.rows())
        self.assertEqual({*double.KINDS}, {*doubled.answered})
