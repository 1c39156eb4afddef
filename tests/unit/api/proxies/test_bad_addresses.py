"""Addresses of proxies that are wrong in one place, with the services themselves behind them."""

from nova_lite.api import operation
from nova_lite.api import proxies
from tests.fixtures import neighboured_api
from tests.unit.api.servers import test_bad_input


class TestBadAddresses(test_bad_input.Requests):
    def make_api(self):
        return neighboured_api.NeighbouredApi()

    def test_addresses(self):
        proxied = proxies.__name__
        found = [
            each for each in operation.load_all() if each.handler.__module__.startswith(proxied)
        ]
        self.assertNotEqual([], found)
        self.check_addresses(found)
