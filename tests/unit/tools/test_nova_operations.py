"""The API offers what Nova does, but for what the data lists with a reason."""

import dataclasses

import testtools

from nova_lite.api import operation
from tools.proof import nova

TEXT = """
nova: 34.0.0
outside_registry:
- reason: A document.
  operations: [GET /]
not_offered:
- reason: There is no Manila.
  operations: ['GET /shares/{id}']
added: []
operations:
  /:
    GET: 2.1-
  /things/{id}:
    GET: 2.1-2.35
    PUT: 2.10-
  /things/{id}/action:
    POST break: gone
  /shares/{id}:
    GET: 2.97-
"""


def declared(method, path, **options):
    """Return an operation that is not in the registry."""
    operation.operation(method, path, **options)(print)
    return operation.OPERATIONS.pop()


class RegistryTest(testtools.TestCase):
    def test_the_api(self):
        known = nova.load()
        self.assertEqual(265, len(known.operations))
        self.assertEqual([], nova.differences(known, operation.load_all()))


class DifferencesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.known = nova.load(TEXT)
        self.registry = [
            declared('GET', '/things/{thing_id}', until='2.35'),
            declared('PUT', '/things/{thing_id}', since='2.10', until='2.54'),
            declared('PUT', '/things/{thing_id}', since='2.55'),
            declared('POST', '/things/{thing_id}/action', faults=(410,)),
        ]

    def differences(self, **changes):
        """Return the differences after changes of the first operation, or its removal."""
        first, *others = self.registry
        registry = [dataclasses.replace(first, **changes), *others] if changes else others
        return nova.differences(self.known, registry)

    def test_none(self):
        self.assertEqual([], nova.differences(self.known, self.registry))

    def test_missing(self):
        self.assertEqual(['GET /things/{id} is not offered'], self.differences())

    def test_other_microversions(self):
        self.assertEqual(
            ['GET /things/{id} is offered at 2.9–2.35, by Nova at 2.1–2.35'],
            self.differences(since=self.registry[2].since._replace(minor=9)),
        )

    def test_a_gap(self):
        del self.registry[2]
        self.assertEqual(
            ['PUT /things/{id} is offered at 2.10–2.54, by Nova at 2.10–'],
            nova.differences(self.known, self.registry),
        )

    def test_gone_though_not_in_nova(self):
        self.assertEqual(
            ['GET /things/{id} is answered with 410'], self.differences(faults=frozenset({410}))
        )

    def test_served_though_gone_in_nova(self):
        self.registry[3] = dataclasses.replace(self.registry[3], faults=frozenset({404}))
        self.assertEqual(
            ['POST /things/{id}/action (break) is not answered with 410'],
            nova.differences(self.known, self.registry),
        )

    def test_added(self):
        self.registry.append(declared('GET', '/toys'))
        self.assertEqual(
            ['GET /toys is offered; Nova has no such operation'],
            nova.differences(self.known, self.registry),
        )

    def test_added_for_a_reason(self):
        """The names of parameters do not count, because nova's are others than ours."""
        self.registry.append(declared('GET', '/toys/{toy_id}'))
        self.known.added['GET /toys/{id}'] = 'Children ask for it.'
        self.assertEqual([], nova.differences(self.known, self.registry))

    def test_an_exception_that_is_none(self):
        self.registry.append(declared('GET', '/shares/{id}'))
        self.assertEqual(
            ['GET /shares/{id} is offered, but listed as an exception'],
            nova.differences(self.known, self.registry),
        )


class LoadTest(testtools.TestCase):
    def test_operations(self):
        known = nova.load(TEXT)
        self.assertEqual(
            ['2.1–', '2.1–2.35', '2.10–', 'gone', '2.97–'],
            [each.versions for each in known.operations],
        )
        self.assertEqual(
            [nova.OUTSIDE, *[nova.OFFERED] * 3, nova.NOT_OFFERED],
            [known.state(each) for each in known.operations],
        )
        self.assertEqual('POST /things/{id}/action (break)', str(known.operations[3]))

    def test_exceptions_that_are_wrong(self):
        for reason, text in (
            ('not operations of Nova', TEXT.replace("['GET /shares/{id}']", '[GET /none]')),
            ('No reason', TEXT.replace('There is no Manila.', "''")),
        ):
            error = self.assertRaises(ValueError, nova.load, text)
            self.assertIn(reason, str(error))
