"""Base classes of tests of proxies: the API over simcloud, asked as old clients ask."""

from tests.fixtures import neighboured_api
from tests.unit.api.servers import base


class Case(base.Case):
    """`until` is the last microversion that has the operations."""

    until = '2.35'

    def make_api(self):
        return neighboured_api.NeighbouredApi(overrides=self.overrides)

    def ok(self, method, path, body=None, **options):
        return super().ok(method, path, body, **{'version': self.until, **options})

    def refused(self, method, path, body=None, **options):
        return super().refused(method, path, body, **{'version': self.until, **options})

    def assert_ends(self, *operations):
        """The next microversion has none of these: (method, path, body or nothing)."""
        after = f'2.{int(self.until[2:]) + 1}'
        for method, path, *body in operations:
            self.refused(method, path, *body, code=404, version=after, text=after)
