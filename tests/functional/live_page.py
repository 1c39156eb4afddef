"""Base class of tests of the live page of a cloud."""

import requests

from tests.fixtures import live_moving
from tests.functional import base


class LivePageTestCase(base.CloudTest):
    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)

    @property
    def url(self):
        return self.cloud.cloud.url

    def get(self, path, status=200, **options):
        answer = requests.get(f'{self.url}{path}', timeout=60, **options)
        self.assertEqual(status, answer.status_code, answer.text)
        return answer.json()
