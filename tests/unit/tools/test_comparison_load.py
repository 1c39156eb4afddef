"""The comparison with nova under load: who is asked to wait, what fails, and the table."""

import json
import types

import requests
import testtools

from nova_lite import exception
from nova_lite.lab.bench import client
from tests.unit.tools import test_comparison
from tools import compare_with_nova
from tools.comparison import load
from tools.comparison import patient as patients
from tools.comparison import table


def _response(status, body=None, **headers):
    made = requests.Response()
    made.status_code, made._content = status, json.dumps(body or {}).encode()
    made.headers.update(headers)
    return made


class Answers:
    """Gives these responses, one after the other, instead of a cloud's."""

    flavor_id = server_body = None
    content = staticmethod(client.Client.content)

    def __init__(self, *responses):
        self._responses = list(responses)

    def send(self, _method, _path, _body=None):
        return self._responses.pop(0)


class PatientTest(testtools.TestCase):
    def test_it_asks_again_where_the_cloud_asks_to_wait(self):
        busy = _response(503, **{'Retry-After': '0'})
        patient = patients.Patient(Answers(busy, busy, _response(200, {'servers': []})))
        self.assertEqual({'servers': []}, patient.call('GET', '/servers'))
        self.assertEqual(2, patient.refused)
        self.assertGreater(patient.longest_s, 0)
        patient.begin()
        self.assertEqual((0, 0), (patient.refused, patient.longest_s))

    def test_other_errors_are_failures(self):
        for response in (_response(503), _response(409, **{'Retry-After': '0'})):
            patient = patients.Patient(Answers(response))
            error = self.assertRaises(exception.Conflict, patient.call, 'GET', '/servers')
            self.assertIn(f'GET /servers answered {response.status_code}', str(error))
            self.assertEqual(0, patient.refused)


class Work:
    """Stands for a Workload whose boots fail beyond a number of clients."""

    def __init__(self, most):
        self._most, self.left = most, []

    def boot(self, count, clients):
        self.left = ['made'] * count
        if clients > self._most:
            raise exception.Unavailable(service='it', reason='too many')
        return {'per_second': clients}

    def adopt(self):
        """Find nothing."""

    def delete(self, _at_once):
        self.left = []


class FailureTest(testtools.TestCase):
    def test_a_failure_is_told_and_nothing_is_left(self):
        work, patient = Work(4), types.SimpleNamespace(begin=list, longest_s=2, refused=3)
        self.assertEqual(
            {'per_second': 4, 'longest_s': 2, 'refused': 3},
            load._figures(patient, work, 'boots', 4),
        )
        self.assertIn('too many', load._figures(patient, work, 'boots', 16)['failure'])
        self.assertEqual([], work.left)


def _loaded(rate, longest_s, refused=0):
    return {
        'per_second': rate,
        'longest_s': longest_s,
        'refused': refused,
        'others': 0.5,
        'milliseconds': {'to ACTIVE': {'p50': 100, 'p95': 150}},
    }


ROUNDS = [
    {
        table.NOVA: {'boots-of-1': _loaded(2, 1), 'boots-of-16': {'failure': 'no answer'}},
        table.OURS: {'boots-of-1': _loaded(9, 0.2, 1), 'boots-of-16': _loaded(12, 0.5)},
    },
    {
        table.NOVA: {'boots-of-1': _loaded(4, 3), 'boots-of-16': _loaded(3, 1)},
        table.OURS: {'boots-of-1': _loaded(11, 0.1, 1), 'boots-of-16': _loaded(14, 0.25)},
    },
]


class TableTest(testtools.TestCase):
    def test_medians_of_rates_and_the_longest_answer(self):
        shown = load.rst({'about': test_comparison.ABOUT, 'rounds': ROUNDS}, 'boots')
        for number, cells in (
            (1, ('3.0', '3.00', '1.5', '10.0', '0.20', '1.5')),
            (16, ('failed', 'failed', 'failed', '13.0', '0.50', '1.5')),
        ):
            row = f'   * - {number}\n' + ''.join(f'     - {cell}\n' for cell in cells)
            self.assertIn(row, shown)
        self.assertIn('nova failed with 16 clients: ``no answer``.', shown)
        self.assertIn('nova_lite asked 2 times to wait', shown)
        self.assertIn('used 0.5 cores', shown)

    def test_the_document_has_marks(self):
        for kind in load.KINDS:
            table.placed(compare_with_nova.PAGE.read_text(), '', load=kind)

    def test_it_takes_no_other_table_for_it(self):
        self.assertRaises(ValueError, table.placed, f'{table.BEGIN}\n{table.END}\n', '', load='mix')
