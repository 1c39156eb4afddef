"""Whose turn it is: lanes of hosts and cells, each saga once, and bounds."""

import itertools

import testtools

from nova_lite.saga import queue


def lanes(cell, *hosts):
    return [queue.Lane(queue.CELL, cell), *(queue.Lane(queue.HOST, host) for host in hosts)]


class QueueTest(testtools.TestCase):
    """Eight threads: four for a cell, two for a host."""

    def setUp(self):
        super().setUp()
        self.queue = queue.Queue(8)

    def put(self, names, *places):
        for name in names:
            self.assertTrue(self.queue.put(name, lanes(*places)))

    def taken(self):
        found = []
        while (entry := self.queue.take()) is not None:
            found.append(entry)
        return found

    def names(self):
        return ''.join(entry.uuid for entry in self.taken())

    def test_a_saga_waits_once(self):
        self.put('a', 'one')
        self.assertFalse(self.queue.put('a', lanes('one')))
        self.assertEqual(('a', 0), (self.names(), len(self.queue)))

    def test_a_host_has_a_part_of_its_cell(self):
        self.put('abc', 'one', 'h1')
        self.put('de', 'one', 'h2')
        self.assertEqual('abde', self.names())
        self.assertIn('c', self.queue)

    def test_a_cell_leaves_threads_for_others(self):
        self.put('abcdefgh', 'one')
        self.put('z', 'two')
        self.assertEqual({*'abcd', 'z'}, set(self.names()))

    def test_cells_take_turns(self):
        self.put('abc', 'one')
        self.put('xyz', 'two')
        self.assertEqual('axbycz', self.names())

    def test_who_leaves_makes_room(self):
        self.put('abc', 'one', 'h1')
        first, _second = self.taken()
        self.queue.leave(first)
        self.assertEqual('c', self.names())

    def test_a_host_that_is_found_on_the_way(self):
        self.put('ab', 'one', 'h1')
        self.put('c', 'one')
        found = {entry.uuid: entry for entry in self.taken()}
        self.assertFalse(self.queue.widen(found['c'], lanes('one', 'h1')))
        self.queue.leave(found['a'])
        self.assertTrue(self.queue.widen(found['c'], lanes('one', 'h1')))
        self.put('d', 'one', 'h1')
        self.assertEqual('', self.names(), 'the place found on the way is taken')

    def crowd(self, cells=('one', 'two'), host=None):
        """More and more sagas of each cell in turn, one for each that ends; yields what runs."""
        for number in itertools.count():
            cell = cells[number % len(cells)]
            self.put([f'{cell}-{number}'], cell, *([host] if host else []))
            running = self.taken()
            yield [entry.uuid for entry in running]
            self.running += running
            done = next((e for e in self.running if e.lanes[0].name == cell), None)
            if done is not None:
                self.running.remove(done)
                self.queue.leave(done)

    def test_a_saga_of_two_busy_cells_has_its_turn(self):
        self.put('abcdefgh', 'one')
        self.put('stuvwxyz', 'two')
        self.running = self.taken()
        self.queue.put('both', [*lanes('one'), *lanes('two')])
        taken = itertools.islice(self.crowd(), 4 * queue.MOST_PASSED)
        self.assertTrue(any('both' in found for found in taken))

    def test_a_host_that_hangs_gets_no_place_for_those_that_wait_for_it(self):
        self.put('abc', 'one', 'h1')
        self.taken()
        self.running = []
        taken = list(itertools.islice(self.crowd(cells=('one',)), 4 * queue.MOST_PASSED))
        self.assertNotIn(['c'], taken)
        self.assertIn('c', self.queue)

    def test_what_left_is_as_if_it_had_not_been(self):
        self.put('abc', 'one', 'h1', 'h2')
        for _turn in range(3):
            for entry in self.taken():
                self.queue.leave(entry)
        self.assertEqual(0, self.queue._used.total())
        self.assertEqual(0, len(self.queue))

    def test_is_bounded(self):
        self.queue = queue.Queue(8, bound=2)
        self.put('ab', 'one')
        self.assertFalse(self.queue.put('c', lanes('one')))
        self.taken()
        self.put('c', 'one')

    def test_few_threads_still_run_something(self):
        self.queue = queue.Queue(1)
        self.put('a', 'one', 'h1')
        self.assertEqual('a', self.names())
