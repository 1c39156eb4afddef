"""Bodies and queries are accepted and refused as nova-requests.yaml says.

At each of the microversions, and between the samples; what is refused is named. An operation
changes with the microversions that its schema or the file mentions, so these stand for all.
"""

import re

import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import schema
from tests.fixtures import compute_api
from tests.fixtures import examples
from tests.fixtures import neighboured_api
from tests.fixtures import request_samples
from tests.fixtures import servers_api

REQUESTS = request_samples.load()
SETTINGS = examples.settings(10)
FEW = examples.settings(5)
# These wait for a saga, which no process runs; this state is refused before that.
WAITING = {'os-migrateLive': 'suspended', 'evacuate': 'suspended'}
PLACE = re.compile('{[a-z_]+}')
OPERATIONS = operation.load_all()


def is_proxy(each):
    """Return whether an operation asks another service."""
    return each.handler.__module__.startswith('nova_lite.api.proxies.')


def names_of(source, prefix=''):
    """The fields that a schema declares, each with the fields on the way to it and dots."""
    found = set()
    for name, inner in source.get('properties', {}).items():
        found.add(prefix + name)
        found |= names_of(inner, f'{prefix}{name}.')
    items = [source['items']] if source.get('items') else []
    for each in [*items, *source.get('oneOf', ()), *source.get('anyOf', ())]:
        found |= names_of(each, prefix)
    return found


def message_of(compiled, value):
    """Return why a body is refused; None if it is accepted."""
    try:
        compiled.check(value)
    except schema.InvalidInput as error:
        return str(error)
    return None


class TestBodies(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(f'{each} {each.since}', {'operation': each}) for each in OPERATIONS if each.body]

    def setUp(self):
        super().setUp()
        self.known = REQUESTS.body(self.operation)
        self.assertIsNotNone(self.known, f'{self.operation} is not in {request_samples.FILE.name}')
        self.minors = request_samples.minors(self.operation, self.known.kind.edges())

    def compiled(self, minor):
        return self.operation.body.at(microversion.Version(2, minor))

    def accept(self, minor, value):
        reason = message_of(self.compiled(minor), value)
        self.assertIsNone(reason, f'{self.operation} 2.{minor} refuses {value!r:.1500}')

    def refuse(self, minor, names, value):
        reason = message_of(self.compiled(minor), value)
        shown = f'{self.operation} 2.{minor}, {names}: {value!r:.1500}'
        self.assertIsNotNone(reason, shown + ' is accepted')
        if names:
            self.assertTrue(any(name in reason for name in names), f'{shown}: {reason}')

    def test_names(self):
        for minor in self.minors:
            declared = names_of(self.compiled(minor).source)
            self.assertEqual(self.known.kind.names(minor), declared, f'2.{minor}')

    def test_samples(self):
        for minor in self.minors:
            for value in self.known.accepted(minor):
                self.accept(minor, value)
            for names, value in self.known.refused(minor):
                self.refuse(minor, names, value)

    def test_between(self):
        @SETTINGS
        @hypothesis.given(st.data())
        def between(data):
            minor = data.draw(st.sampled_from(self.minors))
            self.accept(minor, data.draw(self.known.right(minor)))
            wrong = self.known.wrong(minor)
            if wrong is not None:
                self.refuse(minor, *data.draw(wrong))

        between()


class TestQueries(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(f'{each} {each.since}', {'operation': each}) for each in OPERATIONS]

    def setUp(self):
        super().setUp()
        self.known = REQUESTS.query(self.operation)

    def take(self, minor, name, *values):
        """Return what counts of a query, and why it is refused."""
        compiled = self.operation.query.at(microversion.Version(2, minor))
        try:
            return compiled.take({name: list(values)}), None
        except schema.InvalidInput as error:
            return None, str(error)

    def test_samples(self):
        for minor in request_samples.minors(self.operation, self.known.edges()):
            for name, each in self.known.names(minor).items():
                for value in each.accepted(minor):
                    shown = f'{self.operation} 2.{minor} {name}={value}'
                    self.assertEqual(({name: [value]}, None), self.take(minor, name, value), shown)
                for _names, value in each.refused(minor):
                    if isinstance(value, str):
                        reason = self.take(minor, name, value)[1]
                        self.assertIn(name, reason or '', f'2.{minor} {name}={value}: {reason}')

    def test_repeated_names(self):
        for minor in request_samples.minors(self.operation, self.known.edges()):
            for name, each in self.known.names(minor).items():
                for value in each.accepted(minor)[:1]:
                    _taken, reason = self.take(minor, name, value, value)
                    shown = f'{self.operation} 2.{minor} {name} twice: {reason}'
                    if each.once:
                        self.assertIn(name, reason or '', shown)
                    else:
                        self.assertIsNone(reason, shown)

    def test_other_names(self):
        for minor in request_samples.minors(self.operation, self.known.edges()):
            for name in self.known.others(minor):
                _taken, reason = self.take(minor, name, 'x')
                shown = f'{self.operation} 2.{minor} {name}: {reason}'
                if minor < self.known.strict:
                    self.assertIsNone(reason, shown)
                else:
                    self.assertIn(name, reason or '', shown)

    def test_names(self):
        for minor in request_samples.minors(self.operation, self.known.edges()):
            source = self.operation.query.at(microversion.Version(2, minor)).source
            self.assertEqual(set(self.known.names(minor)), set(source['properties']), f'2.{minor}')


class Answers:
    """The same through the API: what is wrong is refused, what is right reaches the handler."""

    api = None
    make_api = servers_api.ServersApi

    def setUp(self):
        super().setUp()
        compute_api.shared(self, self.make_api)
        vm_state = WAITING.get(self.operation.action, 'active')
        self.server = self.api.add_server(vm_state=vm_state)
        self.known = REQUESTS.body(self.operation)
        self.minors = request_samples.minors(self.operation, self.known.kind.edges())

    def test_wrong_bodies_are_refused_with_the_name(self):
        @FEW
        @hypothesis.given(st.data())
        def send(data):
            minor = data.draw(st.sampled_from(self.minors))
            wrong = self.known.wrong(minor)
            if wrong is None:
                return
            names, body = data.draw(wrong)
            if not self.names_the_operation(body):
                return
            answer, shown = self.send(minor, body)
            self.assertEqual(400, answer.status_code, f'{names}, {shown}')
            message = answer.json['badRequest']['message']
            self.assertTrue(not names or any(name in message for name in names), shown)

        send()

    def test_right_bodies_reach_the_handler(self):
        @FEW
        @hypothesis.given(st.data())
        def send(data):
            minor = data.draw(st.sampled_from(self.minors))
            answer, shown = self.send(minor, data.draw(self.known.right(minor)))
            self.assertTrue(answer.status_code < 500 or answer.status_code == 503, shown)
            self.assertNotIn('Invalid input for field/attribute', answer.text, shown)

        send()

    def send(self, minor, body):
        """Send a body about a server and the flavor that exist; return the answer and a text."""
        path = self.operation.path.replace('{server_id}', self.server)
        answer = self.api.call(
            self.operation.method,
            PLACE.sub(self.api.flavor.flavorid, path),
            body,
            version=f'2.{minor}',
            who=compute_api.ADMIN,
        )
        text = f'{self.operation} 2.{minor} {body!r:.1000}: {answer.text:.1000}'
        return answer, text

    def names_the_operation(self, body):
        """Return whether a body says which operation is meant, if several share the path."""
        action = self.operation.action
        return action is None or isinstance(body, dict) and set(body) == {action}


class TestAnswers(Answers, testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [each for each in TestBodies.scenarios if not is_proxy(each[1]['operation'])]


class TestAnswersOfProxies(Answers, testscenarios.WithScenarios, testtools.TestCase):
    """They ask the services themselves, not doubles of the clients."""

    make_api = neighboured_api.NeighbouredApi
    scenarios = [each for each in TestBodies.scenarios if is_proxy(each[1]['operation'])]


class TestFile(testtools.TestCase):
    def test_nothing_is_left_over(self):
        known = {request_samples.name_of(each) for each in OPERATIONS}
        self.assertEqual(set(), (REQUESTS.bodies.keys() | REQUESTS.queries.keys()) - known)
        self.assertEqual(set(), REQUESTS.unused())
