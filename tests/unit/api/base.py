"""Base classes of tests of API resources."""

import testtools

from tests.fixtures import compute_api


class ApiTest(testtools.TestCase):
    """Has an API of two cells; requests state the status they expect."""

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(self.make_api())

    def make_api(self):
        """The fixture; a test that needs neighbours makes another."""
        return compute_api.ComputeApi()

    def request(self, method, path, body=None, *, status=200, **options):
        """The decoded answer, None when it is empty."""
        result = self.api.call(method, path, body, **options)
        self.assertEqual(status, result.status_code, f'{method} {path}: {result.text}')
        self.assertEqual([], list(self.api.app.undeclared))
        return result.json if result.content else None

    def get(self, path, **options):
        """Send a GET."""
        return self.request('GET', path, **options)

    def admin(self, method, path, body=None, **options):
        """Send a request as an administrator."""
        return self.request(method, path, body, who=compute_api.ADMIN, **options)
