"""The API contract as requests and answers, against an embedded cloud.

Each file in `cases` is played in order on a cloud of its own. `$ENVIRON` names
where it is and who calls: COMPUTE, SHARES, ADMIN_TOKEN, ADMIN_USER, ADMIN_PROJECT, DEMO_TOKEN,
IMAGE; the first host is cell1-host1.
"""

import os

from gabbi import driver
from gabbi import fixture

from nova_lite.api import microversion
from tests.fixtures import cloud

CASES = os.path.join(os.path.dirname(__file__), 'cases')


class CloudFixture(fixture.GabbiFixture):
    """A cloud of one cell and one host."""

    hosts = 1

    def start_fixture(self):
        self.cloud = cloud.Cloud(cells=1, hosts=self.hosts)
        self.cloud.setUp()
        os.environ['NEWEST'] = str(microversion.MAXIMUM)
        os.environ['COMPUTE'] = f'{self.cloud.cloud.url}/compute'
        os.environ['SHARES'] = f'{self.cloud.cloud.url}/share/v2/shares'
        os.environ['ADMIN_TOKEN'] = self.cloud.admin.auth_token
        os.environ['ADMIN_USER'] = self.cloud.admin.current_user_id
        os.environ['ADMIN_PROJECT'] = self.cloud.admin.current_project_id
        os.environ['DEMO_TOKEN'] = self.cloud.demo.auth_token
        os.environ['IMAGE'] = self.cloud.admin.image.find_image('cirros').id

    def stop_fixture(self):
        try:
            found = self.cloud.findings()
        finally:
            self.cloud.cleanUp()
        if found:
            raise AssertionError(f'The cases leave behind: {found}')


class TwoHostsFixture(CloudFixture):
    """A cloud in which a resize finds another host."""

    hosts = 2


def load_tests(loader, tests, pattern):
    """Return what stestr and unittest collect."""
    return driver.build_tests(
        CASES,
        loader,
        host='localhost',
        fixture_module=__import__(__name__, fromlist=['x']),
        test_loader_name=__name__,
        # Nothing here is TLS, and each request would read the file of authorities anew.
        cert_validate=False,
    )
