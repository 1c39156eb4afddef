"""Operations whose messages are lost with the queues of brokers that restart: they end soon.

One of each kind that casts is asked for, on a server of its own.
"""

import testtools
from testtools import content

from nova_lite import runtime
from tests.fixtures import accepted
from tests.fixtures import casting
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import lost_messages
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
# Seconds after a restart until all has ended: [conductor]build_lease_s and [compute]audit_interval,
# after which work would be found in any case, are much longer.
END_S = 15
# Answered when the host has answered a call.
NEEDS_HOST = 'plug'


@sample.in_turns(2)
class LostMessagesTest(testtools.TestCase):
    settings = {
        'cells': 2,
        'hosts': 3,
        'options': {
            'quota': {'cores': -1, 'instances': -1},
            'conductor': {'build_lease_s': 600, 'audit_idle_s': 600},
            'compute': {'audit_interval': 600},
        },
    }

    def caching(self, cloud):
        """Return a request to cache an image, of which nothing is recorded."""
        aggregate = cloud.admin.compute.create_aggregate(name='cached')
        body = {'cache': [{'id': cloud.image_id('cirros')}]}
        return casting.Request('POST', f'/os-aggregates/{aggregate.id}/images', body)

    def test_all(self):
        cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        operations = accepted.Accepted(cloud)
        prepared = [each for each in operations.prepare(['operation']) if each.name != NEEDS_HOST]
        caching = self.caching(cloud)
        with lost_messages.losing(lost_messages.brokers_of(cloud)):
            asked = [operations.ask(each) for each in prepared]
            self.assertEqual(202, operations.send(caching).status_code)
        began = runtime.monotonic()
        self.assertEqual([], [each for each in asked if not each.accepted])
        ended = {}

        def all_ended():
            left = operations.left(asked)
            for each in asked:
                if each.label not in left:
                    ended.setdefault(each.name, round(runtime.monotonic() - began, 1))
            return not left

        self.addDetail('ended', content.json_content(ended))
        cloud.wait_for(all_ended, 'the end', END_S, most_s=0.5)
        self.assertEqual([], operations.errors(asked))
        self.assertEqual([], cloud.findings())
