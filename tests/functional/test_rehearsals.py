"""Plans of `nova-lite twin`, played in the cloud of which they were made.

`tests/nightly/test_rehearsals.py` plays all plans of larger clouds.
"""

import yaml

from tests.fixtures import guest_matrix
from tests.fixtures import rehearsal
from tests.functional import test_twin
from tools import sample

# Flavors of which as many servers are created as fit, and one more.
FLAVORS = ('big', 'pinned', 'pages', 'gpu', 'vgpu', 'sev')
GUESTS = 16


class Base(test_twin.Base):
    def rehearsal(self, seed, count):
        """Start a drawn cloud with so many guests. Return its Rehearsal."""
        path = self.top / f'{seed}.yaml'
        path.write_text(yaml.safe_dump(guest_matrix.document(seed)))
        directory = self.up(path, f'cloud-{seed}')
        population = guest_matrix.Population(guest_matrix.connect(directory), seed, directory)
        population.share_disks()
        population.create(count)
        population.change()
        return rehearsal.Rehearsal(population)


@sample.in_turns(12)
class RehearsalTest(Base):
    def test_a_drawn_cloud(self):
        seed = sample.number()
        played = self.rehearsal(seed, GUESTS)
        plans = played.plans('big')
        host, plan = max(plans['drain'].items(), key=lambda item: len(item[1]))
        played.drain(host, plan)
        played.survives(host, plans['survives'][host])
        played.fit('big', plans['fit']['big'])
        self.assertEqual([], played.wrong, seed)
