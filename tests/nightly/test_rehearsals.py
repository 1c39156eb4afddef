"""Plans for clouds with guests of many kinds: each step is accepted, and ends as planned."""

from tests.functional import test_rehearsals
from tools import sample

SEEDS, GUESTS = 5, 40


class RehearsalsTest(test_rehearsals.Base):
    def test_drawn_clouds(self):
        """Each commit draws other clouds, see `tools.sample`. A failure names the seed."""
        for number in range(SEEDS):
            seed = SEEDS * sample.number() + number
            with self.subTest(seed=seed, again=sample.replay()):
                played = self.rehearsal(seed, GUESTS)
                plans = played.plans(*test_rehearsals.flavors(seed))
                for host, plan in plans['drain'].items():
                    played.drain(host, plan)
                played.rebalance(plans['rebalance'])
                for host, plan in plans['survives'].items():
                    played.survives(host, plan)
                for flavor, count in plans['fit'].items():
                    played.fit(flavor, count)
                self.assertEqual([], played.wrong)
