"""injectNetworkInfo, on the simulated network service."""

from tests.fixtures import neighboured_api
from tests.unit.api.servers import base


class TestInjectNetworkInfo(base.Case):
    def make_api(self):
        return neighboured_api.NeighbouredApi()

    def inject(self, uuid, code=202, **options):
        answer = self.api.call(
            'POST', f'/servers/{uuid}/action', {'injectNetworkInfo': None}, **options
        )
        self.assertEqual(code, answer.status_code, answer.text)
        return answer.text

    def test_ports_are_read_anew(self):
        uuid = self.api.add_server()
        port = self.api.plug(uuid, self.api.add_network()['id'])
        self.assertEqual([], self.api.row(uuid).network_info)
        self.inject(uuid, who=base.ADMIN)
        (vif,) = self.api.row(uuid).network_info
        self.assertEqual(port['id'], vif['id'])

    def test_refused(self):
        self.inject(self.api.add_server(), 403)
        for values in ({'task_state': 'rebooting'}, {'launched_at': None}, {'host': None}):
            text = self.inject(self.api.add_server(**values), 409, who=base.ADMIN)
            self.assertIn('nstance', text)
