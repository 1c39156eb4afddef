"""Hosts up to 2.42, and the log of usage audits."""

import datetime

from nova_lite.db.cell import task_log
from tests.fixtures import compute_api
from tests.unit.api.servers import base

ADMIN = base.ADMIN


class OsHostsTest(base.Case):
    def get(self, path, **options):
        return self.ok('GET', path, who=ADMIN, **options).json

    def test_list(self):
        hosts = self.get('/os-hosts')['hosts']
        self.assertEqual(['host1', 'host2'], sorted(each['host_name'] for each in hosts))
        self.assertIn({'host_name': 'host1', 'service': 'compute', 'zone': 'nova'}, hosts)
        self.assertEqual(hosts, self.get('/os-hosts?zone=nova')['hosts'])
        self.assertEqual([], self.get('/os-hosts?zone=other')['hosts'])
        self.assertEqual(hosts, self.get('/os-hosts?zone=')['hosts'])

    def test_ends(self):
        self.get('/os-hosts', version='2.42')
        for path in ('/os-hosts', '/os-hosts/host1', '/os-hosts/host1/reboot'):
            self.refused('GET', path, code=404, version='2.43', who=ADMIN)
        self.refused('GET', '/os-hosts', code=403, who=compute_api.MEMBER)

    def test_show(self):
        self.api.add_server()
        self.api.add_server(project_id='beta', vcpus=2)
        found = [each['resource'] for each in self.get('/os-hosts/host1')['host']]
        self.assertEqual(
            ['(total)', '(used_now)', '(used_max)', 'alpha', 'beta'],
            [each['project'] for each in found],
        )
        self.assertEqual([8, 0, 3, 1, 2], [each['cpu'] for each in found])
        self.assertEqual([192, 192], [each['memory_mb'] for each in found[3:]])
        self.refused('GET', '/os-hosts/nowhere', code=404, who=ADMIN)
        mode = {'maintenance_mode': 'enable'}
        self.refused('PUT', '/os-hosts/nowhere', mode, code=404, who=ADMIN)

    def test_disable(self):
        answer = self.ok('PUT', '/os-hosts/host1', {'status': 'disable'}, who=ADMIN)
        self.assertEqual({'host': 'host1', 'status': 'disabled'}, answer.json)
        self.assertEqual(['host2'], [h['host_name'] for h in self.get('/os-hosts')['hosts']])
        self.ok('PUT', '/os-hosts/host1', {'status': 'Enable'}, who=ADMIN)
        self.assertEqual(2, len(self.get('/os-hosts')['hosts']))
        for body, code in (
            ({}, 400),
            ({'status': 'x'}, 400),
            ({'maintenance_mode': 'enable'}, 501),
        ):
            self.refused('PUT', '/os-hosts/host1', body, code=code, who=ADMIN)
        self.refused('PUT', '/os-hosts/nowhere', {'status': 'enable'}, code=404, who=ADMIN)

    def test_power(self):
        for action in ('startup', 'shutdown', 'reboot'):
            self.refused('GET', f'/os-hosts/host1/{action}', code=501, who=ADMIN)
            self.refused('GET', f'/os-hosts/nowhere/{action}', code=404, who=ADMIN)

    def test_usage_audit_log(self):
        path = '/os-instance_usage_audit_log'
        found = self.get(f'{path}/2026-03-15 10:00:00')['instance_usage_audit_log']
        self.assertEqual(
            ('2026-02-01 00:00:00', '2026-03-01 00:00:00'),
            (found['period_beginning'], found['period_ending']),
        )
        self.assertEqual(['host1', 'host2'], found['hosts_not_run'])
        self.assertEqual(
            (2, 2, 0), (found['num_hosts'], found['num_hosts_not_run'], len(found['log']))
        )
        self.assertEqual(2, self.get(path)['instance_usage_audit_logs']['num_hosts'])
        period = tuple(datetime.datetime.fromisoformat(f'2026-0{month}-01') for month in (2, 3))
        for cell, host in (('cell1', 'host1'), ('cell2', 'host2')):
            self.api.cell(cell).db.write(task_log.audit, host, period)
            found = self.get(f'{path}/2026-03-15 10:00:00')['instance_usage_audit_log']
            self.assertEqual(('DONE', 0, 0), tuple(found['log'][host].values())[:3])
        self.assertEqual(
            ('ALL hosts done. 0 errors.', [], 2),
            (found['overall_status'], found['hosts_not_run'], found['num_hosts_done']),
        )
        self.refused('GET', f'{path}/yesterday', code=400, who=ADMIN)
        self.refused('GET', path, code=403)
