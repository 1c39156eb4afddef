"""Combinations of the parts of requests for new servers cause no server error."""

import json
import re

from tests.fixtures import api_neighbours
from tests.fixtures import compute_api
from tests.unit.api.servers import base
from tools import sample
from tools.comparison import answer_cases
from tools.comparison import creation_cases

NUMBER = 80
UNKNOWN = '5f0e3a1c-6b1f-4a52-9d0e-0c9a34b2f7aa'
# The words of the cases that the doubles know.
WORDS = {
    'flavor': '42',
    'image': api_neighbours.IMAGE_ID,
    'network': api_neighbours.NETWORK_ID,
    'port': api_neighbours.PORT_ID,
    'volume': api_neighbours.VOLUME_ID,
    'boot_volume': api_neighbours.VOLUME_ID,
    'snapshot': api_neighbours.SNAPSHOT_ID,
    'volume_type': api_neighbours.VOLUME_TYPE,
    'host': 'host1',
    'node': 'host1.example',
    'zone': 'nova',
    'free_ip': '192.0.2.7',
}
WORD = re.compile(r'\{([a-z_]+)\}')
USERS = {answer_cases.OWNER: compute_api.MEMBER, answer_cases.ADMIN: compute_api.ADMIN}
UNLIMITED = ('instances', 'cores', 'ram')


class CombinationsTest(base.Case):
    def setUp(self):
        super().setUp()
        for name in UNLIMITED:
            self.api.conf.set_override(name, -1, 'quota')

    def test_no_server_error(self):
        for case in creation_cases.chosen(NUMBER, sample.number()):
            text = json.dumps(case.body('judged'))
            body = json.loads(WORD.sub(lambda found: WORDS.get(found[1], UNKNOWN), text))
            answer = self.api.call(
                'POST', '/servers', body, version=f'2.{case.minor}', who=USERS[case.user]
            )
            shown = f'{case} ({sample.replay()}): {body}: {answer.text}'
            self.assertIn(answer.status_code, (202, 400, 403, 409), shown)
            if answer.status_code == 202:
                self.assertEqual('build_servers', self.api.super_conductor.calls[-1][0], shown)
            else:
                ((_kind, fault),) = answer.json.items()
                self.assertTrue(fault['message'], shown)
