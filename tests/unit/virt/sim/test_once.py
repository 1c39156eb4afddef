"""A guest runs at most once (I3), whatever is lost, late, repeated or restarted.

Generated moves between three hosts, each with a file of its own. A caller asks for
each step as a saga would; requests and replies get lost, old requests arrive again
at any later time, daemons restart, and moves are undone or go through.

NOVA_LITE_TEST_EXAMPLES says how many rounds there are; they are chosen at random then.
"""

import itertools

import hypothesis
from hypothesis import strategies as st

from nova_lite.virt import model
from tests.fixtures import examples
from tests.unit.virt.sim import base

PROFILE = """
extends: instant
hosts:
  - live_migration: {bandwidth_mb_s: 512, dirty_rate_mb_s: 64, disk_fill: 0, post_copy: true}
    delays: {'*_migration': 1, migrate_out: 2, live_migrate: 0, abort_live_migration: 3}
  - match: node-b
    live_migration: {converges: false, post_copy: false}
"""


class Lost(Exception):
    """The caller got no reply: the request may or may not arrive, once or more."""


class World:
    """The hosts, the messages still under way, and what the caller knows."""

    def __init__(self, test, draw, round_):
        self.test = test
        self.draw = draw
        self.round = round_
        self.late = []
        self.hosts = {}
        for name in 'abc':
            self.restart(name)

    def restart(self, name):
        old = self.hosts.get(name)
        if old is not None:
            old.close()
        self.hosts[name] = self.test.hosts(
            PROFILE, name=f'{self.round}{name}', nodes=(f'node-{name}',)
        )

    def node(self, name):
        return f'node-{name}'

    def pass_time(self):
        """Anything may happen between two steps, and none of it does harm."""
        for event in self.draw(st.lists(st.sampled_from('tttrd'), max_size=3)):
            if event == 't':
                self.test.clock.advance(self.draw(st.sampled_from((0.1, 1, 5, 40))))
            elif event == 'r':
                self.restart(self.draw(st.sampled_from('abc')))
            elif self.late:
                self.draw(st.sampled_from(self.late))()
            self.test.running()

    def ask(self, host, method, *args, reliable=False, **options):
        """Call a driver's method as over a network; return the job that ended."""

        def message():
            getattr(self.hosts[host], method)(self.node(host), *args, **options)

        self.late.append(message)
        fate = (
            'ok'
            if reliable
            else self.draw(st.sampled_from(('ok', 'ok', 'ok', 'ok', 'request lost', 'reply lost')))
        )
        if fate == 'request lost':
            raise Lost
        job = getattr(self.hosts[host], method)(self.node(host), *args, **options)
        if fate == 'reply lost':
            raise Lost
        while job.state is model.JobState.RUNNING and 'handover' not in job.result:
            if method == 'live_migrate' and not reliable:
                return job
            self.pass_time()
            self.test.clock.advance(max(job.ready_in, 0.01))
            job = self.hosts[host].poll(job.id)
        return job


class OnceTests(base.SimTestCase):
    rounds = itertools.count()

    @examples.settings(8)
    @hypothesis.given(st.data())
    def test_at_most_one_runs(self, data):
        world = World(self, data.draw, next(self.rounds))
        self.paths.clear()
        self.paths.extend(self.path(f'{world.round}{name}') for name in 'abc')
        home = 'a'
        world.ask('a', 'spawn', base.guest_spec(), key='build', reliable=True)
        for number in range(data.draw(st.integers(1, 4))):
            dest = data.draw(st.sampled_from([name for name in 'abc' if name != home]))
            move = self.live if data.draw(st.booleans()) else self.cold
            home = move(world, home, dest, f'move-{number}')
            self.assertEqual({base.GUEST: f'node-{home}'}, self.running())
        for message in world.late:
            message()
            self.clock.advance(3)
            self.running()
        self.clock.advance(100)
        for name in 'abc':
            world.hosts[name].list_guests(world.node(name))
        self.assertEqual({base.GUEST: f'node-{home}'}, self.running())
        for driver in world.hosts.values():
            driver.close()

    def cold(self, world, source, dest, move):
        try:
            left = world.ask(source, 'migrate_out', base.GUEST, move, key=f'{move}/out')
            world.pass_time()
            world.ask(
                dest,
                'finish_migration',
                base.guest_spec(),
                left.result['handover'],
                key=f'{move}/in',
                power_on=True,
            )
            back = world.draw(st.booleans())
        except Lost:
            back = True
        world.pass_time()
        if not back:
            world.ask(source, 'confirm_migration', base.GUEST, move, key=f'{move}/c', reliable=True)
            return dest
        world.ask(dest, 'destroy', base.GUEST, key=f'{move}/d', move=move, reliable=True)
        world.pass_time()
        world.ask(
            source,
            'revert_migration',
            base.GUEST,
            move,
            key=f'{move}/r',
            power_on=True,
            reliable=True,
        )
        return source

    def live(self, world, source, dest, move):
        ticket = None
        try:
            ticket = world.ask(
                dest, 'pre_live_migration', base.guest_spec(), move, key=f'{move}/pre'
            ).result['ticket']
            world.pass_time()
            copy = self.copy(world, source, move, ticket, reliable=False)
            wish = world.draw(st.sampled_from(('wait', 'force', 'abort')))
            world.pass_time()
            if wish == 'abort':
                raise Lost
            # A copy that does not converge has to be forced.
            if wish == 'force' or source == 'b':
                world.ask(
                    source,
                    'force_complete_live_migration',
                    base.GUEST,
                    move,
                    key=f'{move}/f',
                    reliable=True,
                )
        except Lost:
            aborted = world.ask(
                source, 'abort_live_migration', base.GUEST, move, key=f'{move}/a', reliable=True
            )
            if aborted.error is None:
                world.ask(
                    dest,
                    'rollback_live_migration',
                    base.GUEST,
                    move,
                    key=f'{move}/rb',
                    reliable=True,
                )
                return source
        copy = self.copy(world, source, move, ticket, reliable=True)
        world.pass_time()
        arrived = world.ask(
            dest,
            'post_live_migration',
            base.GUEST,
            copy.result['handover'],
            key=f'{move}/post',
            reliable=True,
        )
        self.assertIsNone(arrived.error)
        world.pass_time()
        world.ask(source, 'confirm_migration', base.GUEST, move, key=f'{move}/c', reliable=True)
        return dest

    def copy(self, world, source, move, ticket, *, reliable):
        return world.ask(
            source,
            'live_migrate',
            base.GUEST,
            move,
            key=f'{move}/copy',
            ticket=ticket,
            reliable=reliable,
        )
