"""Requests for new servers, and requests about special ones, that nova judges."""

import json

import testtools

from nova_lite import runtime
from tools.comparison import answer_cases
from tools.comparison import answer_shapes
from tools.comparison import answer_table
from tools.comparison import answer_texts
from tools.comparison import creation_cases
from tools.comparison import creation_objects
from tools.comparison import creation_values
from tools.comparison import special_servers

LARGE = 100000


class CreationsTest(testtools.TestCase):
    def test_same_seed_same_cases(self):
        found = creation_cases.chosen(60, seed=3)
        self.assertEqual(60, len(found))
        self.assertEqual(found, creation_cases.chosen(60, seed=3))
        self.assertNotEqual(found, creation_cases.chosen(60, seed=4))

    def test_each_value_alone(self):
        found = list(creation_cases.singles(runtime.seeded_random(1)))
        values = [value for each in creation_cases.values().values() for value in each]
        alone = [part for case in found for part in case.parts]
        self.assertEqual(len(values), len(alone))
        self.assertEqual({1, 96}, {1, 96} & {case.minor for case in found})

    def test_body(self):
        parts = (
            ('image', {'imageRef': creation_values.ABSENT}),
            (creation_cases.DEVICES, [{'boot_index': 0}]),
            (creation_cases.HINTS, {'group': '{group}'}),
            ('name', {'name': 'other'}),
        )
        expected = {
            'server': {
                'name': 'other',
                'flavorRef': '{flavor}',
                'networks': [{'uuid': '{network}'}],
                'block_device_mapping_v2': [{'boot_index': 0}],
            },
            'os:scheduler_hints': {'group': '{group}'},
        }
        case = creation_cases.Creation(answer_cases.OWNER, 90, parts)
        self.assertEqual(expected, case.body('judged'))
        self.assertTrue(str(case).startswith('owner 2.90 image {"imageRef"'))

    def test_most_combinations_fit_the_schema(self):
        found = list(creation_cases.combinations(runtime.seeded_random(2), 100))
        self.assertGreater(len([case for case in found if creation_cases.fits(case)]), 75)
        self.assertFalse(creation_cases.fits(_of('tags', {'tags': 1})))
        self.assertTrue(creation_cases.fits(_of('networks', {'networks': [{'port': '{port}'}]})))

    def test_objects_of_all_words(self):
        """Each word of the cases is made for each cloud, or known to it."""
        texts = [
            json.dumps(case.body('x')) for case in creation_cases.singles(runtime.seeded_random(1))
        ]
        texts += [f'{case.path}{json.dumps(case.body)}' for case in special_servers.of_state('x')]
        texts += [json.dumps(kind.fields) for kind in special_servers.KINDS.values()]
        words = {found for text in texts for found in creation_cases.WORD.findall(text)}
        known = {f'{{{word}}}' for word in (*creation_objects.WORDS, *KNOWN)}
        self.assertEqual(set(), words - known)


# Words that tools.comparison.answer_cloud replaces.
KNOWN = (
    'image', 'network', 'unknown', 'flavor', 'other_flavor', 'small_flavor', 'huge_flavor', 'volume',
    'port', 'attached', 'same_host', 'other_host', 'host', 'server',
)  # fmt: skip


def _of(dimension, value):
    return creation_cases.Creation(answer_cases.OWNER, 96, ((dimension, value),))


class SpecialTest(testtools.TestCase):
    def test_steps(self):
        kind, found = special_servers.steps('volume/locked-offloaded')
        self.assertIs(special_servers.KINDS['volume'], kind)
        self.assertEqual(['shelve', 'lock'], [next(iter(body)) for _what, body, _status in found])
        self.assertEqual(['SHELVED_OFFLOADED'] * 2, [status for _what, _body, status in found])
        _kind, found = special_servers.steps('apart/locked-active')
        self.assertEqual([('action', {'lock': {}}, 'ACTIVE')], list(found))

    def test_each_state_has_steps(self):
        for state in special_servers.states():
            kind, _steps = special_servers.steps(state)
            self.assertNotIn(state.partition('/')[2], kind.without)

    def test_sample(self):
        found = special_servers.chosen(50, seed=1)
        self.assertEqual(50, len(found))
        self.assertEqual(found, special_servers.chosen(50, seed=1))
        self.assertEqual(5, len({case.state for case in found}))
        self.assertEqual([], special_servers.chosen(0, seed=1))

    def test_more_than_there_are(self):
        found = special_servers.chosen(LARGE, seed=1)
        self.assertEqual(len(special_servers.states()) * special_servers.BATCH, len(found))
        self.assertEqual(set(special_servers.states()), {case.state for case in found})


class TextsTest(testtools.TestCase):
    def test_message(self):
        text = json.dumps({'badRequest': {'code': 400, 'message': 'Flavor 5 is unknown.'}})
        self.assertEqual('Flavor 5 is unknown.', answer_texts.message(text))
        self.assertEqual('<html>', answer_texts.message('<html>'))
        self.assertEqual('[]', answer_texts.message('[]'))

    def test_normal(self):
        text = 'Port 5f0e3a1c-6b1f-4a52-9d0e-0c9a34b2f7aa of 10.0.0.4\n has 3 addresses'
        self.assertEqual('Port ID of N has N addresses', answer_texts.normal(text))

    def test_agree(self):
        for nova, ours, alike in (
            ('Image ID can not be found.', 'Can not find requested image', True),
            ('Network x is unknown', 'Flavor x is unknown', False),
            ('Invalid input for field/attribute port.', 'Port x cannot be used', False),
            ('No', 'Not so', True),
            ('No', 'Port x', False),
        ):
            self.assertEqual(alike, answer_texts.agree(nova, ours), nova)


class TableTest(testtools.TestCase):
    def test_reason_of_a_special_state(self):
        table = answer_table.Table()
        request = 'owner GET /diagnostics 2.96'
        table.add('apart/paused', request, [('status', '409', '200')])
        ((_cause, state, reason),) = table.rows()
        self.assertEqual('apart/paused', state)
        self.assertIn('fake driver', reason)

    def test_record(self):
        self.assertEqual({'status': 'gone'}, answer_shapes.record(None))
