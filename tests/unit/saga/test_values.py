"""Values that the journal keeps: names that it does not know are refused."""

import copy
import pickle
import types

import testtools

from nova_lite import context
from nova_lite import saga
from nova_lite.saga import journal
from nova_lite.saga import values


class Made(saga.Value):
    power: int
    where: str | None = None


class Renamed(saga.Value):
    """As Made, whose `power` has another name since version 2."""

    VERSION = 2
    power_state: int

    @classmethod
    def upgrade(cls, kept, version):
        return {'power_state': kept['power']}


class Answered(saga.Answer):
    power: int


class Holder(saga.Value):
    """A Value with others in it."""

    renamed: Renamed
    name: str = 'held'


MAKE = saga.Result('make', Made)
NOTED = saga.Result('noted', list[str])


SECRET = saga.Result('secret', Made, secret=True)


class ValueTest(testtools.TestCase):
    def test_the_first_version_is_kept_as_its_fields(self):
        self.assertEqual({'power': 1, 'where': None}, Made(power=1).as_dict())
        self.assertEqual(Made(power=1), Made.from_dict({'power': 1}))

    def test_a_later_version_is_kept_with_it(self):
        kept = Renamed(power_state=1).as_dict()
        self.assertEqual({'power_state': 1, values.VERSION: 2}, kept)
        self.assertEqual(Renamed(power_state=1), Renamed.from_dict(kept))

    def test_what_a_former_version_has_kept(self):
        self.assertEqual(Renamed(power_state=4), Renamed.from_dict({'power': 4}))

    def test_what_is_not_known(self):
        for kept in ({'power': 1, values.VERSION: 2}, {'powr': 1}, {'power': 1, 'more': 2}, {}):
            self.assertRaises(journal.UnknownPlan, Made.from_dict, kept)

    def test_values_within_have_versions_of_their_own(self):
        held = Holder(renamed=Renamed(power_state=1))
        kept = {'renamed': {'power_state': 1, values.VERSION: 2}, 'name': 'held'}
        self.assertEqual(kept, held.as_dict())
        self.assertEqual(held, Holder.from_dict(kept))
        self.assertEqual(held, Holder.from_dict({'renamed': {'power': 1}}))

    def test_values_within_that_are_not_known(self):
        for kept in ({'powr': 1, values.VERSION: 2}, {'power_state': 1, values.VERSION: 3}):
            self.assertRaises(journal.UnknownPlan, Holder.from_dict, {'renamed': kept})

    def test_hosts_may_answer_more(self):
        self.assertEqual(Answered(power=1), Answered.from_dict({'power': 1, 'more': 2}))
        self.assertRaises(journal.UnknownPlan, Answered.from_dict, {'more': 2})

    def test_types_as_texts_are_refused(self):
        """As they are after `from __future__ import annotations`."""
        body = {'__annotations__': {'within': 'Made'}}
        self.assertRaises(TypeError, type, 'Textual', (saga.Value,), body)

    def test_nothing_changes_in_it(self):
        self.assertRaises(AttributeError, setattr, Made(power=1), 'power', 2)


class ResultsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.data = {}
        self.results = values.Results(self.data, {})

    def test_the_journal_has_plain_values(self):
        self.results.keep(MAKE, Made(power=1))
        self.results[NOTED] = ['a']
        self.results.keep('another', {'any': 'thing'})
        kept = {'make': {'power': 1, 'where': None}, 'noted': ['a'], 'another': {'any': 'thing'}}
        self.assertEqual(kept, self.data)
        self.assertEqual({str}, {type(name) for name in self.data})
        self.assertEqual((Made(power=1), ['a']), (self.results[MAKE], self.results[NOTED]))

    def test_secrets_are_dropped(self):
        for name in (MAKE, SECRET):
            self.results.keep(name, Made(power=1))
        self.results.drop_secrets([MAKE, SECRET, 'without a result'])
        self.assertEqual({'make'}, set(self.data))

    def test_nothing_was_left(self):
        self.assertIsNone(self.results.get(MAKE))
        self.assertNotIn(MAKE, self.results)
        self.assertRaises(KeyError, lambda: self.results[MAKE])
        self.assertIsNone(self.results.pop(MAKE))

    def test_what_was_forgotten(self):
        self.results.keep(MAKE, Made(power=1))
        self.assertEqual(Made(power=1), self.results.pop(MAKE))
        self.assertEqual({}, self.data)

    def test_a_value_is_loaded_once(self):
        self.results.keep(MAKE, Made(power=1))
        self.assertIs(self.results[MAKE], self.results.get(MAKE))
        self.results.keep(MAKE, Made(power=2))
        self.assertEqual(Made(power=2), self.results[MAKE])

    def test_other_names_are_refused(self):
        self.data['make'] = {'power': 1}
        self.assertRaises(TypeError, lambda: self.results['make'])
        self.assertRaises(TypeError, self.results.get, 'make')
        self.assertRaises(TypeError, self.results.pop, 'make')
        self.assertRaises(TypeError, self.results.__contains__, 'make')
        self.assertRaises(TypeError, self.results.__setitem__, 'make', 1)

    def test_names_of_fields_that_are_not_known_are_refused(self):
        self.results.keep(MAKE, Made(power=1))
        self.assertRaises(AttributeError, lambda: self.results[MAKE].powr)

    def test_another_kind_is_refused(self):
        self.assertRaises(TypeError, self.results.keep, MAKE, Answered(power=1))

    def test_an_answer_becomes_what_it_is(self):
        self.results.keep(MAKE, {'power': 1, 'where': None})
        self.assertEqual({'make': {'power': 1, 'where': None}}, self.data)

    def test_a_name_can_be_copied(self):
        for name in (MAKE, SECRET):
            for again in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
                self.assertEqual((name, Made, name.secret), (again, again.kind, again.secret))


class Given(saga.Value):
    flavor: str
    host: str | None = None


class Moved(saga.Saga):
    kind = 'moved'
    arguments: Given

    def steps(self):
        return (saga.Step(MAKE, lambda: Made(power=1)),)


class ArgumentsTest(testtools.TestCase):
    def saga(self, **arguments):
        record = types.SimpleNamespace(
            kind='moved', uuid='u', instance_uuid='i', epoch=1, data={}, error=None
        )
        record.arguments = arguments
        return Moved(None, record, context.admin())

    def test_what_a_saga_is_given(self):
        found = self.saga(flavor='small')
        self.assertEqual(Given(flavor='small'), found.arguments)
        self.assertEqual({'flavor': 'small'}, found.plain_arguments)
        self.assertRaises(AttributeError, lambda: found.arguments.flavr)

    def test_what_it_is_not_given(self):
        self.assertRaises(journal.UnknownPlan, self.saga, flavr='small')
        self.assertRaises(journal.UnknownPlan, self.saga)
        self.assertEqual(['flavor'], values.required(Moved))
