"""A host that hangs delays its own sagas, and no others."""

from nova_lite import runtime
from nova_lite.moves.parts import arrival
from tests.fixtures import attaching
from tests.fixtures import moving
from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests

WAIT_S = 120
THREADS = 4


class FairnessTest(base.CloudTest):
    settings = {'cells': 2, 'hosts': 2, 'options': {'conductor': {'saga_threads': THREADS}}}

    def test_a_host_that_hangs_leaves_another_cell_alone(self):
        go_on, asked = runtime.Event(), runtime.Event()

        claim = arrival.Arrival.claim

        def hang(arriving):
            asked.set()
            assert go_on.wait(WAIT_S)
            return claim(arriving)

        self.patch(arrival.Arrival, 'claim', hang)
        self.addCleanup(go_on.set)
        stage, hands = moving.Moving(self.cloud), attaching.Attaching(self.cloud)
        moved = [
            self.cloud.boot(f's{number}', availability_zone='nova:cell1-host1')
            for number in range(THREADS)
        ]
        other = self.cloud.boot('other', availability_zone='nova:cell2-host1')
        for server in moved:
            stage.act(server, 'migrate', {'host': 'cell1-host2'})
        self.assertTrue(asked.wait(WAIT_S))
        volume = hands.volume()
        hands.attached(other, volume)
        self.assertEqual([volume], hands.volumes_of_guest(other))
        go_on.set()
        for server in moved:
            self.cloud.wait(server, 'VERIFY_RESIZE')
