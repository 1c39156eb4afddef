"""Rescue in a whole cloud: booted from another image, and back from the own disk."""

from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class RescueTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def test_there_and_back(self):
        server = self.cloud.boot('mine')
        image = self.cloud.image_id('debian')
        self.moving.act(server, 'rescue', {'rescue_image_ref': image}, status=200)
        self.cloud.wait(server, 'RESCUE')
        console = self.cloud.admin.compute.get_server_console_output(server)['output']
        self.assertIn('Rescue mode', console)
        self.moving.act(server, 'unrescue')
        self.cloud.wait(server, 'ACTIVE')
        for action in ('rescue', 'unrescue'):
            self.assertEqual(
                [(f'compute_{action}_instance', 'Success')], self.moving.events(server, action)
            )

    def test_answers(self):
        server = self.cloud.boot()
        self.moving.act(server, 'unrescue', status=409)
        self.moving.act(server, 'rescue', {'unknown': 1}, status=400)
        missing = {'rescue_image_ref': server.id}
        self.moving.act(server, 'rescue', missing, status=400)
        answer = self.moving.act(server, 'rescue', {'adminPass': 'secret'}, status=200)
        self.assertEqual({'adminPass': 'secret'}, answer.json())
        self.cloud.wait(server, 'RESCUE')
        self.moving.act(server, 'rescue', status=409)
        self.moving.act(server, 'unrescue')
        self.cloud.wait(server, 'ACTIVE')

    def test_booted_from_volume(self):
        server = self.moving.boot_from_volume()
        self.moving.act(server, 'rescue', status=400, version='2.86')
        self.moving.act(server, 'rescue', status=200, version='2.87')
        self.cloud.wait(server, 'RESCUE')
        self.moving.act(server, 'unrescue')
        self.cloud.wait(server, 'ACTIVE')

    def test_a_rescue_that_fails(self):
        server = self.cloud.boot()
        self.cloud.behave('extends: instant\nfailures: [{verb: rescue, when: before, first: 1}]\n')
        self.moving.act(server, 'rescue', status=200)
        self.cloud.wait_for(
            lambda: self.moving.events(server, 'rescue') == [('compute_rescue_instance', 'Error')],
            'the rescue to fail',
        )
        self.cloud.wait(server, 'ERROR')
        self.moving.act(server, 'rescue', status=200)
        self.cloud.wait(server, 'RESCUE')
