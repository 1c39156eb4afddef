"""Labels of a server are those written last."""

import testtools

from tests.sim.workload import caller
from tests.sim.workload import labels

URL = 'http://api-1.sim/v2.1/servers/uuid'
# Texts with when they were asked for, when that ended, and with which code.
WRITTEN = (('a', 1, 2, 200), ('b', 3, 5, 200), ('c', 4, 6, 0), ('d', 7, 8, 409))


class LabelsTestCase(testtools.TestCase):
    def test_what_may_have_been_written_last(self):
        for kind, label in labels.LABELS.items():
            written = labels.Labels()
            for text, began, ended, code in WRITTEN:
                url = f'{URL}{label.path}'
                call = caller.Call('client', label.what, label.method, url, began, ended, code=code)
                written.written('uuid', kind, text, call)
            for text, expected in (('a', 1), ('b', 0), ('c', 0), ('d', 1), (None, 1)):
                found = list(written.findings(_server(kind, text)))
                self.assertEqual(expected, len(found), (kind, text))

    def test_nothing_is_known_of_what_nobody_wrote(self):
        self.assertEqual([], list(labels.Labels().findings(_server('tag', 'x'))))


def _server(kind, text):
    """A server with this text as the label of one kind, and without others."""
    shown = {'id': 'uuid', 'description': None, 'metadata': {}, 'tags': []}
    if text is None:
        return shown
    values = {'description': text, 'metadata': {labels.KEY: text}, 'tag': [text]}
    key = 'tags' if kind == 'tag' else kind
    return {**shown, key: values[kind]}
