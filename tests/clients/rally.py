"""Rally's scenarios of servers, each of which counts as a test."""

import json
import pathlib
import subprocess

import yaml

from tests.clients import resources
from tests.clients import runs
from tests.tempest import results

SCENARIOS = pathlib.Path(__file__).parent / 'rally.yaml'
TIMES = 2
# A project with users and a network is made for each scenario, and deleted after it.
CONTEXTS = {'users': {'tenants': 1, 'users_per_tenant': 1}, 'network': {}}


class Rally(runs.Installed):
    """As runs.Tests: lists and runs the scenarios, and reads what they came to."""

    def list(self, regex):
        """Return the names of the scenarios that match."""
        names = yaml.safe_load(SCENARIOS.read_text())
        return [name for name in names if regex is None or regex.search(name)]

    def run(self, names):
        """Run scenarios; their progress goes to the file `output`."""
        (self.directory / 'rally.db').unlink(missing_ok=True)
        conf = self.directory / 'rally.conf'
        conf.write_text(f'[database]\nconnection = sqlite:///{self.directory}/rally.db\n')
        self._write('environment.json', self._environment())
        self._write('task.json', {name: [_workload(name)] for name in names})
        with open(self.directory / 'output', 'w') as output:
            for words in (
                ('db', 'create'),
                ('env', 'create', '--name', 'cloud', '--spec', 'environment.json'),
                ('task', 'start', 'task.json'),
                ('task', 'report', '--json', '--out', 'results.json'),
            ):
                subprocess.run(
                    self.command('rally', '--config-file', str(conf), *words),
                    cwd=self.directory,
                    env=self.environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )

    def results(self, _names):
        """Return {scenario: results.Result} of the last run."""
        report = json.loads((self.directory / 'results.json').read_text())
        return {
            next(iter(workload['scenario'])): _result(workload)
            for task in report['tasks']
            for subtask in task['subtasks']
            for workload in subtask['workloads']
        }

    def _environment(self):
        path = resources.clouds_path(self.environment['HOME'])
        auth = yaml.safe_load(path.read_text())['clouds']['devstack-admin']['auth']
        admin = {key: auth[key] for key in ('username', 'password', 'project_name')}
        admin |= {'user_domain_name': 'Default', 'project_domain_name': 'Default'}
        return {'existing@openstack': {'auth_url': auth['auth_url'], 'admin': admin}}

    def _write(self, name, content):
        (self.directory / name).write_text(json.dumps(content, indent=2))


def _workload(name):
    given = yaml.safe_load(SCENARIOS.read_text())[name]
    image, flavor = {'name': resources.IMAGE}, {'name': 'm1.nano'}
    if 'rebuild' in name:
        given |= {'from_image': image, 'to_image': image, 'flavor': flavor}
    elif 'list_servers' not in name:
        given |= {'image': image, 'flavor': flavor}
    if 'resize' in name:
        given |= {'to_flavor': {'name': 'm1.micro'}}
    runner = {'type': 'constant', 'times': TIMES, 'concurrency': TIMES}
    return {'args': given, 'runner': runner, 'context': CONTEXTS}


def _result(workload):
    failed = [each['error'] for each in workload['data'] if each['error']]
    if workload['pass_sla'] and not failed and len(workload['data']) == TIMES:
        return results.Result(results.PASS)
    reason = ' '.join(failed[0][:2]) if failed else 'it did not run'
    return results.Result(results.FAIL, ' '.join(reason.split())[: results.MESSAGE])
