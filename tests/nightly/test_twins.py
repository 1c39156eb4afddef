"""Twins of larger clouds: decisions are those of the cloud, drains take what is predicted."""

import yaml

from nova_lite import runtime
from tests.functional import test_twin

SERVERS, DECISIONS = 200, 100
# Guests whose copies take seconds, so that they are most of the time of a drain.
DRAINED = """
cells: [{hosts: [full, other, third]}]
profile:
  extends: instant
  hosts: [{live_migration: {bandwidth_mb_s: 1000, dirty_rate_mb_s: 100, disk_fill: 0}}]
defaults: false
projects: [{name: demo, quotas: {compute: {ram: -1}}}]
flavors: [{name: big, id: '1', vcpus: 1, ram: 16384, disk: 1}]
images: [{name: only}]
servers: [{name: guest, count: 6, flavor: big, image: only, host: full}]
"""


def cloud_of(count):
    """Return the text of a file of a cloud with `count` servers on 40 hosts of several sizes."""
    hosts = [f'node-{number}' for number in range(40)]
    rules = [
        {'match': name, 'capacity': {'vcpus': 16 + 8 * (number % 5), 'memory_mb': 65536}}
        for number, name in enumerate(hosts)
    ]
    return yaml.safe_dump(
        {
            'cells': [{'hosts': hosts}],
            'profile': {'extends': 'instant', 'hosts': rules},
            'defaults': False,
            'projects': [
                {
                    'name': 'demo',
                    'quotas': {'compute': dict.fromkeys(('instances', 'cores', 'ram'), -1)},
                }
            ],
            'flavors': [
                {'name': f'f{number}', 'id': str(number), 'vcpus': number, 'ram': 512 * number}
                for number in range(1, 5)
            ],
            'images': [{'name': 'only'}],
            'servers': [
                {'name': f's{number}', 'count': count // 4, 'flavor': f'f{number}', 'image': 'only'}
                for number in range(1, 5)
            ],
        }
    )


class TwinsTest(test_twin.Base):
    def test_decisions(self):
        path = self.top / 'cloud.yaml'
        path.write_text(cloud_of(SERVERS))
        cloud = self.up(path, 'cloud')
        found, lacking = self.imported(cloud)
        self.assertEqual(('', SERVERS), (lacking, len(found['servers'])))
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        for flavor in ('f1', 'f3'):
            words = ('fit', flavor, '--count', str(DECISIONS // 2))
            self.assertEqual(self.twin(cloud, *words), self.twin(twin, *words))
        self.verify(twin)

    def test_the_time_of_a_drain(self):
        path = self.top / 'cloud.yaml'
        path.write_text(DRAINED)
        cloud = self.up(path, 'cloud')
        _code, plan = self.twin(cloud, 'drain', 'full', '--parallel', '2')
        began = runtime.monotonic()
        code, _out, errors = test_twin.run(
            'drain-host', 'full', '--yes', '--max', '2', '--state-dir', cloud
        )
        self.assertEqual(0, code, errors)
        taken = runtime.monotonic() - began
        self.assertLess(abs(taken - plan['seconds']), 0.2 * taken, (taken, plan['seconds']))
        self.verify(cloud)
