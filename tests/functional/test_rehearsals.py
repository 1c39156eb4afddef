"""Plans of `nova-lite twin`, played in the cloud of which they were made.

`tests/nightly/test_rehearsals.py` plays all plans of larger clouds.
"""

import yaml

from tests.fixtures import guest_matrix
from tests.fixtures import rehearsal
from tests.functional import test_twin
from tools import sample

# Flavors of which as many servers are created as fit, and one more. Where the scheduler does not
# ask for parts of hosts, builds of `OF_PARTS` try some hosts that refuse them, and give up.
FLAVORS = ('big', 'disk', 'vgpu', 'sev', 'licence')
OF_PARTS = ('pinned', 'pages')
GUESTS = 16


def flavors(seed):
    """Return the flavors whose number is exact in the cloud of a seed."""
    filters = guest_matrix.document(seed)['options']['filter_scheduler']['enabled_filters']
    return [*FLAVORS, *(OF_PARTS if guest_matrix.OF_PARTS[0] in filters else ())]


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
