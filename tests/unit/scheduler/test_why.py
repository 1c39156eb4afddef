""" "Why not this host?": what is remembered, and what placement says afterwards."""

import logging

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.scheduler import decisions
from nova_lite.scheduler import select
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class RefusalsTest(testtools.TestCase):
    def test_the_last_refusal_counts(self):
        found = decisions.Refusals()
        found.add('ComputeFilter', 'a', 'down')
        found.add('claim', 'a', 'full')
        found.add('claim', 'b', 'full')
        self.assertEqual('Of 3 hosts, refused by: placement 1, claim 2.', found.summary(3, 2))
        found.clear(['a', 'b', 'c'])
        self.assertEqual('Of 1 host, refused by: placement 1.', found.summary(1, 0))
        self.assertEqual('No host is known.', found.summary(0, 0))
        self.assertEqual('None of 2 hosts was refused.', found.summary(2, 2))


class MemoryTest(testtools.TestCase):
    def record(self, *uuids, refusals=0):
        made = decisions.Record('req', uuids)
        for index in range(refusals):
            made.refusals.add('claim', f'h{index}', 'full')
        return made

    def test_the_newest_decision_counts(self):
        kept = decisions.Decisions(9)
        old, new = self.record('s1', 's2'), self.record('s1')
        kept.add(old)
        kept.add(new)
        self.assertIs(new, kept.get('s1'))
        self.assertIs(old, kept.get('s2'))

    def test_unknown(self):
        error = self.assertRaises(exception.DecisionNotFound, decisions.Decisions(9).get, 's1')
        self.assertIn('s1', error.message)

    def test_it_is_bounded(self):
        kept = decisions.Decisions(2)
        for uuid in ('s1', 's2', 's3'):
            kept.add(self.record(uuid))
        self.assertRaises(exception.DecisionNotFound, kept.get, 's1')
        kept.add(self.record('s4', refusals=2 * kept.REFUSALS_PER_SERVER + 1))
        self.assertRaises(exception.DecisionNotFound, kept.get, 's3')
        kept.get('s4')

    def test_none_at_all(self):
        kept = decisions.Decisions(0)
        kept.add(self.record('s1'))
        self.assertRaises(exception.DecisionNotFound, kept.get, 's1')


class WhyTest(cloud.ManagerTestCase):
    def why(self, host=None):
        return self.scheduler.why(self.ctxt, self.uuids[0], host)

    def reason(self, host):
        (entry,) = self.why(host)['hosts']
        return entry['stage'], entry['reason']

    def test_a_success(self):
        for name in 'abcde':
            self.add_host(name)
        self.set_service('d', forced_down=True)
        self.add_host('e2', memory_mb=256)
        ((uuid, selections),) = self.decide(base.make_spec(availability_zone='nova')).items()
        found = self.why()
        self.assertEqual(uuid, found['instance_uuid'])
        self.assertEqual(self.ctxt.request_id, found['request_id'])
        self.assertEqual(selections[0].service_host, found['chosen'])
        self.assertEqual([one.service_host for one in selections[1:]], found['alternates'])
        self.assertIsNone(found['error'])
        self.assertEqual(
            [
                ['compute_status_filter', 'forbids COMPUTE_STATUS_DISABLED'],
                ['owner_nova_filter', 'requires OWNER_NOVA'],
            ],
            found['request_filters'],
        )
        self.assertIn('resources=DISK_GB:1,MEMORY_MB:512,VCPU:1', found['queries'][0])
        stages = sorted(entry['stage'] for entry in found['hosts'])
        self.assertEqual(
            ['ComputeFilter', 'alternate', 'alternate', 'chosen', 'passed', 'placement'], stages
        )

    def test_weights(self):
        self.add_host('a')
        self.add_host('b', memory_mb=32 * base.GIB)
        self.decide()
        found = {entry['host']: entry for entry in self.why()['hosts']}
        self.assertEqual('b', self.why()['chosen'])
        for entry in found.values():
            self.assertEqual(entry['weight'], sum(entry['weights'].values()))
        self.assertEqual(1.0, found['b']['weights']['RAMWeigher'])
        self.assertLess(found['a']['weight'], found['b']['weight'])

    def test_equal_weights(self):
        for name in 'abcde':
            self.add_host(name)
        self.add_host('f', memory_mb=2 * base.GIB)
        self.decide()
        chosen = self.why()['chosen']
        equal = f'same weight as {chosen}, which came first'
        passed = [entry for entry in self.why()['hosts'] if entry['stage'] == 'passed']
        self.assertEqual({equal}, {entry['reason'] for entry in passed if entry['host'] != 'f'})
        self.assertEqual(('passed', 'others were better'), self.reason('f'))

    def test_weights_of_the_best(self):
        for number in range(select.WEIGHED + 1):
            self.add_host(f'host{number:02}')
        self.decide()
        weights = [entry['weight'] for entry in self.why()['hosts']]
        self.assertEqual(1, weights.count(None))

    def test_a_refusal(self):
        self.add_host('a')
        self.set_service('a', forced_down=True)
        self.refused()
        self.assertEqual(('ComputeFilter', 'its compute service is down'), self.reason('a'))
        self.assertIn('There are not enough hosts', self.why()['error'])

    def test_what_placement_refused_is_explained(self):
        self.set('scheduler', enable_isolated_aggregate_filtering=True)
        for name, traits in (
            ('full', ()),
            ('traits', ['COMPUTE_STATUS_DISABLED']),
            ('licensed', ()),
            ('zone', ['CUSTOM_X']),
        ):
            self.add_host(name, traits=traits, vcpus=1 if name == 'full' else 4)
        self.add_aggregate('az', {'availability_zone': 'az'}, ['full', 'traits', 'licensed'])
        self.add_aggregate('windows', {'trait:CUSTOM_W': 'required'}, ['licensed'])
        self.add_aggregate('other', {}, ['zone'])
        spec = base.make_spec(
            {'trait:CUSTOM_X': 'required'}, sizes={'vcpus': 2}, availability_zone='az'
        )
        self.refused(spec)
        expected = {
            'full': 'has 1 VCPU left, 2 requested; does not have the trait CUSTOM_X',
            'traits': 'does not have the trait CUSTOM_X; '
            'has the forbidden trait COMPUTE_STATUS_DISABLED',
            'licensed': 'does not have the trait CUSTOM_X; '
            'is in windows, which is forbidden for the server',
            'zone': 'is not in az',
        }
        for host, reason in expected.items():
            self.assertEqual(('placement', reason), self.reason(host))
        self.assertEqual(
            expected, {entry['host']: entry['reason'] for entry in self.why()['hosts']}
        )

    def test_what_would_do_by_now(self):
        uuid = self.add_host('a', traits=['COMPUTE_STATUS_DISABLED'])
        self.refused()
        self.providers.set_traits(self.admin, uuid, ['OWNER_NOVA'])
        self.assertEqual(
            ('placement', 'placement did not return the host, but would do so now'),
            self.reason('a'),
        )

    def test_all_groups_are_looked_at(self):
        for name in 'ab':
            self.add_host(name, vcpus=4, traits=['CUSTOM_A'] if name == 'a' else ())
        specs = {'resources_1:VCPU': '3', 'trait_1:CUSTOM_A': 'required', 'resources_2:VCPU': '3'}
        self.refused(base.make_spec({**specs, 'group_policy': 'none', 'resources:VCPU': '0'}))
        self.assertEqual('does not have the trait CUSTOM_A (group _1)', self.reason('b')[1])
        self.assertEqual(
            'unknown: it satisfies each request group, but perhaps not all of them together',
            self.reason('a')[1],
        )

    def test_more_hosts_than_candidates(self):
        self.set('scheduler', max_placement_results=1)
        for name in 'ab':
            self.add_host(name)
        (chosen,) = self.chosen()
        (other,) = {'a', 'b'} - {chosen}
        self.assertEqual(
            ('placement', 'unknown: the query was limited to 1 candidates'),
            self.reason(other),
        )

    def test_a_request_filter_that_knows_of_no_host(self):
        self.set('scheduler', limit_tenants_to_placement_aggregate=True)
        self.set('scheduler', placement_aggregate_required_for_tenants=True)
        self.add_host('a')
        error = self.refused()
        self.assertEqual(('request filter', error), self.reason('a'))

    def test_decisions_are_logged(self):
        """Hosts that were refused or not offered are logged at the level of debugging."""
        logger = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.add_host('down')
        self.set_service('down', forced_down=True)
        self.add_host('small', memory_mb=256)
        self.refused()
        (line,) = [line for line in logger.output.splitlines() if 'Decision about' in line]
        self.assertIn(self.uuids[0], line)
        self.assertIn("{'down': ('ComputeFilter', 'its compute service is down')}", line)
        self.assertIn("not offered by placement ['small']", line)
        self.assertIn('There are not enough hosts', line)

    def test_limits_of_one_server(self):
        uuid = self.add_host('a')
        self.providers.set_inventories(
            self.admin,
            uuid,
            {
                'VCPU': {'total': 9, 'max_unit': 1},
                'MEMORY_MB': {'total': 9999, 'step_size': 1000},
            },
        )
        self.refused(base.make_spec(sizes={'vcpus': 2, 'memory_mb': 1001}))
        self.assertEqual(
            'has no DISK_GB; allows MEMORY_MB in steps of 1000; '
            'allows from 1 to 1 VCPU to one server, 2 requested',
            self.reason('a')[1],
        )

    def test_a_host_without_provider(self):
        self.add_host('b')
        super(cloud.ManagerTestCase, self).add_host('b')
        self.add_host('a')
        self.providers.delete(self.admin, base.uuid_of('b'))
        self.decide()
        self.assertEqual(
            ('placement', 'placement has no resource provider for the host'), self.reason('b')
        )

    def test_another_host_was_asked_for(self):
        self.add_host('a')
        self.add_host('b')
        spec = base.make_spec()
        spec.destination().host = 'a'
        self.decide(spec)
        self.assertEqual(('placement', 'another host was requested'), self.reason('b'))

    def test_unknown(self):
        self.add_host('a')
        self.decide()
        self.assertRaises(exception.ComputeHostNotFound, self.why, 'x')
        self.assertRaises(
            exception.DecisionNotFound, self.scheduler.why, self.ctxt, runtime.new_uuid()
        )
