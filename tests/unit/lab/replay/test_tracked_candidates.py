"""Candidates that are counted forward, beside those that placement would answer."""

import testtools

from nova_lite import context
from nova_lite.lab.replay import tracked_candidates

QUERY = ((('limit', '10'), ('resources', 'MEMORY_MB:1024,VCPU:4')),)
HOSTS = ('one', 'two')


class Answers:
    """Placement with providers of 8 vCPUs. vcpus: {provider: those in use}"""

    def __init__(self):
        self.vcpus = dict.fromkeys(HOSTS, 0)
        self.queries = []
        self.nested = {}

    def candidates(self, _ctxt, pairs):
        self.queries.append(dict(pairs))
        wanted = dict(pairs)
        summaries, requests = {}, []
        for uuid, used in self.vcpus.items():
            if wanted.get('in_tree', uuid) != uuid or used + 4 > 8:
                continue
            resources = {'VCPU': {'capacity': 8, 'used': used}}
            resources['MEMORY_MB'] = {'capacity': 8192, 'used': used * 256}
            summaries[uuid] = {'resources': resources, 'root_provider_uuid': uuid}
            for child in self.nested.get(uuid, ()):
                summaries[child] = {
                    'resources': {'VCPU': {'capacity': 8, 'used': 0}},
                    'root_provider_uuid': uuid,
                }
            requests.append(request(uuid))
        return {'allocation_requests': requests, 'provider_summaries': summaries}


def request(uuid):
    return {'allocations': {uuid: {'resources': {'VCPU': 4, 'MEMORY_MB': 1024}}}}


class TrackedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.placement = Answers()
        self.source = tracked_candidates.TrackedSource(self.placement)
        self.ctxt = context.RequestContext()

    def get(self, queries=QUERY):
        return self.source.get(self.ctxt, queries)

    def claim(self, uuid):
        found = self.get()
        self.assertTrue(found.take(found.of(uuid)[0]))
        self.source.changed(request(uuid))
        self.placement.vcpus[uuid] += 4

    def release(self, uuid):
        self.placement.vcpus[uuid] -= 4
        self.source.release(request(uuid))

    def test_one_query(self):
        """A full provider is offered no longer, and again once there is room."""
        for _ in range(2):
            self.assertEqual({'one', 'two'}, self.get().offered)
            self.claim('one')
        self.assertEqual({'two'}, self.get().offered)
        self.assertEqual((), self.get().of('one'))
        self.release('one')
        self.assertEqual({'one', 'two'}, self.get().offered)
        self.assertEqual(1, len(self.placement.queries))

    def test_full_at_first(self):
        """Placement is asked about a provider that its answer could not have, once it may fit."""
        self.placement.vcpus['one'] = 8
        self.assertEqual({'two'}, self.get().offered)
        self.release('one')
        self.assertEqual({'one', 'two'}, self.get().offered)
        self.assertEqual('one', self.placement.queries[1]['in_tree'])
        self.get()
        self.assertEqual(2, len(self.placement.queries))

    def test_never_offered(self):
        """A provider with room that placement does not offer lacks a trait; it is asked once."""
        self.get()
        self.placement.vcpus['three'] = 4
        self.source.usage.learn(
            {
                'allocation_requests': [],
                'provider_summaries': {
                    'three': {
                        'resources': {
                            'VCPU': {'capacity': 8, 'used': 4},
                            'MEMORY_MB': {'capacity': 8192, 'used': 1024},
                        }
                    }
                },
            }
        )
        del self.placement.vcpus['three']
        for _ in range(2):
            self.source.changed(request('three'))
            self.assertEqual({'one', 'two'}, self.get().offered)
        self.assertEqual(2, len(self.placement.queries))

    def test_many_at_once(self):
        """Above a number of providers the whole query is cheaper."""
        names = [f'h{number}' for number in range(tracked_candidates.ALONE + 1)]
        self.placement.vcpus.update(dict.fromkeys(names, 8))
        self.get()
        for name in names:
            self.release(name)
        self.assertEqual({*HOSTS, *names}, self.get().offered)
        self.assertEqual(2, len(self.placement.queries))
        self.assertNotIn('in_tree', self.placement.queries[1])

    def test_trees_are_asked_about(self):
        self.placement.nested['one'] = ['node']
        self.get()
        self.claim('one')
        self.assertEqual({'one', 'two'}, self.get().offered)
        self.claim('one')
        self.assertEqual({'two'}, self.get().offered)
        self.assertEqual(['one', 'one'], [each['in_tree'] for each in self.placement.queries[1:]])

    def test_what_cannot_be_followed(self):
        queries = (((*QUERY[0], ('resources_NET', 'NET_BW_EGR_KILOBIT_PER_SEC:1'))),)
        self.get(queries)
        self.get(queries)
        self.assertEqual(2, len(self.placement.queries))

    def test_wrong_count(self):
        self.get()
        self.placement.vcpus['one'] = 4
        error = self.assertRaises(
            tracked_candidates.Miscounted,
            self.source.get,
            self.ctxt,
            ((('resources', 'VCPU:1'),),),
        )
        self.assertEqual(
            'Placement counts 4 of VCPU in use on provider one, and the study 0. Its results '
            'would be wrong. Begin another study.',
            str(error),
        )

    def test_always_asked(self):
        source = tracked_candidates.TrackedSource(self.placement, asks_always=True)
        source.get(self.ctxt, QUERY)
        source.get(self.ctxt, QUERY)
        self.assertEqual(2, len(self.placement.queries))
