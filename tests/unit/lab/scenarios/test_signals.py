"""Signals of drills: values at places in answers, and whether they are expected."""

import testtools

from nova_lite.lab.scenarios import step_actions

ANSWER = {'servers': [{'name': 'a', 'fault': None}, {'name': 'b', 'fault': {'code': 500}}]}


class FindTest(testtools.TestCase):
    def test_places(self):
        for place, found in (
            ('servers.0.name', 'a'),
            ('servers.1.fault.code', 500),
            ('servers.0.fault.code', None),
            ('servers.2.name', None),
            ('servers.*.name', ['a', 'b']),
            ('servers.*', ANSWER['servers']),
            ('servers.#', 2),
            ('servers.0.#', None),
            ('none.#', None),
        ):
            self.assertEqual(found, step_actions.find(ANSWER, place), place)


class HoldsTest(testtools.TestCase):
    def holds(self, answered=200, /, **given):
        return step_actions.holds(given, answered, ANSWER)

    def test_conditions(self):
        name = 'servers.0.name'
        self.assertTrue(self.holds(at=name, **{'is': 'a'}))
        self.assertFalse(self.holds(at=name, **{'is': 'b'}))
        self.assertTrue(self.holds(at=name, is_not='b'))
        self.assertFalse(self.holds(at=name, is_not='a'))
        self.assertTrue(self.holds(at=name, any_of=['a', 'c']))
        self.assertTrue(self.holds(at='servers.*.name', contains='b'))
        self.assertTrue(self.holds(at='servers.1.fault', contains='code'))
        self.assertFalse(self.holds(at='servers.1.fault', contains='message'))

    def test_status(self):
        self.assertTrue(self.holds(404, status=404))
        self.assertFalse(self.holds(404, at='servers.#', **{'is': 2}))
        self.assertTrue(self.holds(404, status=404, at='servers.#', **{'is': 2}))
