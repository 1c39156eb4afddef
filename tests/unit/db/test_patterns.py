"""Patterns of users: what is refused, and how long texts may be matched."""

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.db import patterns
from nova_lite.db import transactions

# A name of 250 characters takes it some 20 ms.
COSTLY = '([a-z]?){300}x'
NAME = 'a' * 250
# Ten characters for thousands: a search would take seconds.
HUGE = ('(' + '(a?){500}' * 20 + 'x)', '(' + '(.?){500}' * 20 + 'x)')
# An engine that backtracks takes minutes or years for one of them.
HOSTILE = (
    '(.|.|.|.|.|.|.|.)*x',
    '(.|.|.)*' * 15 + 'x',
    '((((a+)*)*)*)*x',
    '((a*)*(b*)*)*' * 15 + 'x',
    '(((.?){50}){2})*x',
    COSTLY,
)
ADDRESS = '10.0.0.123'
# No other request may be delayed for longer by a pattern.
DELAY_S = 0.1


class TestCompiled(testtools.TestCase):
    def test_a_pattern_that_repeats_too_much_is_refused(self):
        for pattern in HUGE:
            self.assertRaises(patterns.BadPattern, patterns.compiled, pattern)

    def test_what_people_search_for(self):
        for pattern in ('^web-[0-9]{1,3}(\\.|$)', '.*a.*b.*', '[[:alpha:]]{1,60}', 'ü{2,255}'):
            self.assertIsNone(patterns.compiled(pattern).search('-'))


class Accelerated(runtime.Runtime):
    """Processor time counts twentyfold."""

    def cpu_time(self):
        return 20 * super().cpu_time()


class TestMatcher(testtools.TestCase):
    def test_a_list_of_texts_is_not_matched_for_longer_than_the_limit(self):
        matcher = patterns.Matcher()
        with runtime.install(Accelerated()):
            self.assertRaises(patterns.SlowPattern, self.match_on, matcher)
        self.assertGreater(matcher.spent_s, patterns.TIME_S)

    def match_on(self, matcher):
        began = runtime.cpu_time()
        while runtime.cpu_time() - began < 60:
            self.assertFalse(matcher.matches(COSTLY, NAME))


class TestCost(testtools.TestCase):
    """Processor time: other threads may have to wait for one search, never for two.

    The least of several attempts counts: the first fills RE2's caches, and the processor's
    are shared with whatever else runs.
    """

    def cost_s(self, function):
        """Seconds of processor time that function(number of the attempt) takes."""
        spent = []
        for attempt in range(5):
            began = runtime.cpu_time()
            function(attempt)
            spent.append(runtime.cpu_time() - began)
        return min(spent)

    def test_one_search_takes_less_than_another_request_may_be_delayed(self):
        for pattern in HOSTILE:
            search = patterns.compiled(pattern).search
            for text in (ADDRESS, NAME):
                spent_s = self.cost_s(lambda _attempt, text=text, search=search: search(text))
                self.assertLess(spent_s, DELAY_S, (pattern, text))

    def test_so_does_the_compilation_of_a_pattern(self):
        def compile_new(attempt):
            patterns.compiled(f'{pattern}{attempt}')

        def refuse_new(attempt):
            self.assertRaises(patterns.BadPattern, patterns.compiled, f'{pattern}{attempt}')

        for pattern in HOSTILE:
            self.assertLess(self.cost_s(compile_new), DELAY_S, pattern)
        for pattern in HUGE:
            self.assertLess(self.cost_s(refuse_new), DELAY_S, pattern)

    def test_addresses_of_many_servers(self):
        """A pattern that backtracking makes hostile costs about what a plain one costs."""

        def match(_attempt):
            matcher = patterns.Matcher()
            for _server in range(1000):
                self.assertFalse(matcher.matches(pattern, ADDRESS))

        pattern = 'x'
        plain_s = self.cost_s(match)
        for pattern in HOSTILE[:4]:
            self.assertLess(self.cost_s(match), plain_s * 20, pattern)


class TestSqlite(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.database = transactions.Database(f'sqlite:///{directory}/a.sqlite', threads=1)
        self.addCleanup(self.database.dispose)

    def find(self, connection, pattern, rows):
        """Return how many of so many texts match."""
        counter = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)'
        names = sa.text(f'{counter} SELECT :name || i AS name FROM n').columns(sa.column('name'))
        found = names.bindparams(rows=rows, name=NAME).subquery()
        condition = found.c.name.regexp_match(pattern)
        with patterns.bounded(connection, [condition]):
            return len(connection.execute(sa.select(found.c.name).where(condition)).all())

    def test_a_query_whose_pattern_takes_long_is_given_up(self):
        with runtime.install(Accelerated()):
            self.assertRaises(patterns.SlowPattern, self.database.read, self.find, COSTLY, 10_000)
        # The next one on the same connection has its own time.
        self.assertEqual(100, self.database.read(self.find, 'a+', 100))
