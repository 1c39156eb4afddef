"""Bodies and queries are accepted and refused as nova-requests.yaml says.

At each of the microversions, and between the samples; what is refused is named. An operation
changes with the microversions that its schema or the file mentions, so these stand for all.
"""

import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from nova_lite.api import microversion
from nova_lite.api import schema
from tests.fixtures import examples
from tests.fixtures import request_bodies
from tests.fixtures import request_samples

REQUESTS = request_bodies.REQUESTS
SETTINGS = examples.settings(10)
OPERATIONS = request_bodies.OPERATIONS


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
    scenarios = request_bodies.WITH_BODY

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
    """Samples through the API, at the newest microversion of each operation."""

    def test_a_wrong_body_is_refused_with_the_name(self):
        minor = self.minors[-1]
        for names, body in self.known.refused(minor)[:3]:
            self.check_wrong(minor, names, body)

    def test_a_right_body_reaches_the_handler(self):
        minor = self.minors[-1]
        self.check_right(minor, self.known.accepted(minor)[0])


class TestAnswers(Answers, request_bodies.Bodies, testscenarios.WithScenarios, testtools.TestCase):
    pass


class TestAnswersOfProxies(
    Answers, request_bodies.BodiesOfProxies, testscenarios.WithScenarios, testtools.TestCase
):
    pass


class TestFile(testtools.TestCase):
    def test_nothing_is_left_over(self):
        known = {request_samples.name_of(each) for each in OPERATIONS}
        self.assertEqual(set(), (REQUESTS.bodies.keys() | REQUESTS.queries.keys()) - known)
        self.assertEqual(set(), REQUESTS.unused())
