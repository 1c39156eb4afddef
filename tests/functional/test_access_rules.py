"""A token that is limited to some requests by the access rules of its application credential."""

import requests

from tests.functional import base


class AccessRulesTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 1}

    def ask(self, token, path):
        url = f'{self.cloud.cloud.places.public_url}{path}'
        return requests.get(url, headers={'X-Auth-Token': token}, timeout=60).status_code

    def test_a_token_lists_servers_and_providers_only(self):
        admin = self.cloud.admin
        rules = [
            {'service': service, 'path': path, 'method': 'GET'}
            for service, path in (
                ('compute', '/compute/v2.1/servers'),
                ('placement', '/placement/resource_providers'),
            )
        ]
        credential = admin.identity.create_application_credential(
            admin.current_user_id, name='rules', access_rules=rules
        )
        body = {'id': credential.id, 'secret': credential.secret}
        identity = {'methods': ['application_credential'], 'application_credential': body}
        answer = admin.identity.post('/auth/tokens', json={'auth': {'identity': identity}})
        token = answer.headers['X-Subject-Token']
        for path, status in (
            ('/compute/v2.1/servers', 200),
            ('/compute/v2.1/servers/detail', 401),
            ('/compute/v2.1/flavors', 401),
            ('/placement/resource_providers', 200),
            ('/placement/traits', 401),
            ('/network/v2.0/networks', 401),
        ):
            self.assertEqual(status, self.ask(token, path), path)
