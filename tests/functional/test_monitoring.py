"""/healthcheck and /metrics of an embedded cloud, and the dashboard that asks for them."""

import json
import re

from prometheus_client import parser
import requests

from nova_lite.daemons import conductor
from tests.fixtures import units
from tests.functional import base
from tools import sample

DASHBOARD = units.ROOT / 'etc' / 'grafana' / 'nova-lite.json'
NAME = re.compile(r'\b((?:nova_lite|openstack_nova)_[a-z_]+)\b')


@sample.in_turns(2)
class MonitoringTest(base.CloudTest):
    settings = {'cells': 2, 'hosts': 2}

    def setUp(self):
        super().setUp()
        with open(f'{self.cloud.state_dir}/run/health.json') as file:
            (self.url,) = json.load(file).values()

    def samples(self):
        """{(metric, its labels as pairs): value} of /metrics."""
        answer = requests.get(f'{self.url}/metrics', timeout=90)
        self.assertEqual(200, answer.status_code)
        self.assertTrue(answer.headers['Content-Type'].startswith('text/plain'))
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in parser.text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    @staticmethod
    def total(samples, name, **labels):
        """Sum of a metric over its samples that have these labels."""
        wanted = set(labels.items())
        return sum(v for (found, has), v in samples.items() if found == name and wanted <= has)

    def test_every_daemon_is_well(self):
        answer = requests.get(f'{self.url}/healthcheck', timeout=90)
        self.assertEqual(200, answer.status_code, answer.text)
        found = {each['daemon']: each['checks'] for each in answer.json()['daemons']}
        self.assertEqual(
            {'database', 'bus', 'placement', 'sweep', 'work'}, set(found['super-conductor'])
        )
        self.assertEqual(
            {'bus', 'conductor', 'placement', 'work'}, set(found['compute cell2-compute'])
        )
        self.assertEqual(8, len(found))

    def test_a_daemon_names_what_is_away(self):
        self.cloud.cloud.stop_daemon('conductor-cell2')
        try:
            answer = requests.get(f'{self.url}/healthcheck', timeout=90)
        finally:
            self.cloud.cloud.start_daemon('conductor-cell2', conductor.make)
        self.assertEqual(503, answer.status_code)
        found = {each['daemon']: each for each in answer.json()['daemons']}
        self.assertTrue(found['compute cell1-compute']['healthy'])
        checks = found['compute cell2-compute']['checks']
        self.assertIn('conductor', checks.pop('conductor'))
        self.assertEqual({'bus': None, 'placement': None, 'work': None}, checks)
        # Results of checks are kept for a moment, which the next test must not see.
        self.cloud.wait_for(
            lambda: requests.get(f'{self.url}/healthcheck', timeout=90).ok, 'all are well again'
        )

    def test_what_a_boot_leaves(self):
        before = {
            'nova_lite_api_seconds_count': {'operation': 'POST /servers', 'code': '202'},
            'nova_lite_rpc_seconds_count': {'method': 'select_destinations', 'side': 'server'},
            'nova_lite_scheduler_decisions_total': {'outcome': 'ok'},
        }
        samples = self.samples()
        counts = {name: self.total(samples, name, **labels) for name, labels in before.items()}
        server = self.cloud.boot()
        samples = self.samples()
        for name, labels in before.items():
            self.assertEqual(counts[name] + 1, self.total(samples, name, **labels), name)
        host = server.hypervisor_hostname
        for name in ('database_transactions', 'database_statements', 'neighbour_requests'):
            self.assertLess(0, self.total(samples, f'nova_lite_{name}_total'), name)
        self.assertLess(
            0, self.total(samples, 'nova_lite_neighbour_requests_total', service='placement')
        )
        self.assertEqual(1, self.total(samples, 'openstack_nova_running_vms', hostname=host))
        self.assertEqual(1, self.total(samples, 'openstack_nova_vcpus_used', hostname=host))
        self.assertEqual(
            4, self.total(samples, 'openstack_nova_agent_state', service='nova-compute')
        )
        self.assertEqual(3, self.total(samples, 'openstack_nova_up'))

    def test_a_move_shows_by_step(self):
        server = self.cloud.boot()
        self.cloud.admin.compute.migrate_server(server)
        self.cloud.admin.compute.wait_for_server(server, 'VERIFY_RESIZE')
        kinds = {
            dict(has)['kind']
            for name, has in self.samples()
            if name == 'nova_lite_saga_step_seconds_count'
        }
        # Which of them depends on where there is room; a process counts for all its clouds.
        self.assertTrue({'migrate', 'cross-cell-migrate'} & kinds, kinds)

    def test_deletions_that_wait_for_their_host(self):
        server, faults = self.cloud.boot(), self.cloud.cloud.faults
        host, name = server.compute_host, 'nova_lite_deletions'
        self.assertEqual(0, self.total(self.samples(), name))
        faults.switch_host(host, on=False)
        self.cloud.admin.compute.delete_server(server)
        self.assertEqual(1, self.total(self.samples(), name, hostname=host))
        faults.switch_host(host, on=True)
        cell = host.partition('-')[0]
        self.cloud.cloud.daemons[f'compute-{cell}'].manager._resume.run(0)
        self.cloud.wait_gone(server)
        self.assertEqual(0, self.total(self.samples(), name))

    def test_the_dashboard_asks_for_what_there_is(self):
        server = self.cloud.boot()
        self.cloud.admin.compute.migrate_server(server)
        self.cloud.admin.compute.wait_for_server(server, 'VERIFY_RESIZE')
        text = DASHBOARD.read_text()
        asked = {
            name
            for panel in json.loads(text)['panels']
            for target in panel.get('targets', ())
            for name in NAME.findall(target['expr'])
        }
        self.assertGreater(len(asked), 10)
        # What has not happened yet has no samples, but its family is there.
        answer = requests.get(f'{self.url}/metrics', timeout=90).text
        families = {family.name for family in parser.text_string_to_metric_families(answer)}
        known = {
            f'{name}{end}'
            for name in families
            for end in ('', '_total', '_count', '_sum', '_bucket')
        }
        self.assertEqual(set(), asked - known)
