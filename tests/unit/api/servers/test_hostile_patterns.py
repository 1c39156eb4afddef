"""A list whose pattern takes long holds up no other request."""

from nova_lite import runtime
from nova_lite.db import patterns
from tests.unit.api.servers import base

HOSTILE = '(.|.|.|.|.|.|.|.)*x'
WAIT_S = 60


class TestHostilePattern(base.Case):
    """The list stops between two addresses, in the middle of what it matches.

    tests/unit/db/test_patterns.py bounds what one address costs.
    """

    def setUp(self):
        super().setUp()
        self.uuids = [self.add(number) for number in range(3)]
        self.inside, self.go_on = runtime.Event(), runtime.Event()
        self.addCleanup(self.go_on.set)
        matches = patterns.Matcher.matches

        def held(matcher, pattern, text):
            found = matches(matcher, pattern, text)
            if pattern == HOSTILE:
                self.inside.set()
                self.go_on.wait(WAIT_S)
            return found

        self.patch(patterns.Matcher, 'matches', held)

    def add(self, number):
        address = {'address': f'10.0.0.{number}', 'version': 4}
        info = {'address': 'a', 'network': {'label': 'l', 'subnets': [{'ips': [address]}]}}
        return self.api.add_server(display_name=f's{number}', network_info=[info])

    def hold(self, query):
        """A future of the list, which stands still from now on."""
        pool = runtime.executor(1)
        self.addCleanup(pool.shutdown)
        self.addCleanup(self.go_on.set)
        answer = pool.submit(self.api.call, 'GET', f'/servers?{query}')
        self.assertTrue(self.inside.wait(WAIT_S))
        return answer

    def others_are_answered(self):
        self.ok('GET', f'/servers/{self.uuids[0]}')
        self.assertEqual(3, len(self.ok('GET', '/servers/detail').json['servers']))
        for query in ('ip=10.0.0.1', 'name=s1'):
            (found,) = self.ok('GET', f'/servers?{query}').json['servers']
            self.assertEqual(self.uuids[1], found['id'])
        renamed = {'server': {'name': 'renamed'}}
        self.ok('PUT', f'/servers/{self.uuids[0]}', renamed)

    def ends(self, answer):
        self.assertFalse(answer.done())
        self.go_on.set()
        answer = answer.result(WAIT_S)
        self.assertEqual((200, []), (answer.status_code, answer.json['servers']))

    def test_of_addresses(self):
        answer = self.hold(f'ip={HOSTILE.replace("|", "%7C")}')
        self.others_are_answered()
        self.ends(answer)

    def test_of_names(self):
        """Database servers match names themselves."""
        if not self.api.api_db.url.startswith('sqlite'):
            self.skipTest('only SQLite has us match names')
        answer = self.hold(f'name={HOSTILE.replace("|", "%7C")}')
        self.others_are_answered()
        self.ends(answer)
