"""Tests as histories: each begins in a cloud that has been started, and ends with its process.

What a test begins with follows from its class: the module is imported, and a cloud with
its `settings` is started, if it has any. The fixture of that cloud is then
handed to the first Cloud with the same settings that the test sets up.
"""

import contextlib
import functools
import importlib
import io
import json
import os
import shutil
import tempfile
import traceback
import unittest

import testtools
from testtools.testsuite import iterate_tests

from tests.fixtures import cloud as cloud_fixture
from tests.sim import kernel
from tests.sim.cases import rehearsal
from tests.sim.cases import shortcuts
from tests.sim.world import places
from tests.sim.world import servers
from tests.sim.world import stage

# Virtual seconds after which a test has no end.
LIMIT_S = 1800
# Real seconds without progress after which it is ended; other tests run beside it.
WATCHDOG_S = 120
# Started clouds that are kept: 90 MB of memory each.
MOST_CLOUDS = 12
RESULT = 'result.json'


class Player:
    """Plays tests. root: a directory for files, which is removed at the end"""

    def __init__(self, root):
        self._root = root

    def __enter__(self):
        self._zygotes = kernel.Zygotes(
            key_of,
            functools.partial(_live, self._root),
            most=MOST_CLOUDS,
            first=functools.partial(_rehearse, self._root),
            watchdog_s=WATCHDOG_S,
        )
        return self

    def __exit__(self, *_error):
        self._zygotes.close()
        shutil.rmtree(self._root)

    def share(self, number):
        """Keep clouds for a number of processes that have tests played."""
        self._zygotes.most = MOST_CLOUDS * max(1, number)

    @contextlib.contextmanager
    def play(self, seed):
        """In the context the test of a seed is played: an iterator.

        It yields None until the test has ended, and then {'failure': text or '', 'printed': text}.
        A seed is a number and the id of a test.
        """
        path = path_of(self._root, seed)
        running = []
        try:
            with self._zygotes.hold(seed):
                yield self._played(seed, path, running)
        finally:
            for history in running:
                history.kill()
            shutil.rmtree(path, ignore_errors=True)

    def _played(self, seed, path, running):
        try:
            while not self._zygotes.is_ready(seed):
                yield None
            history = kernel.History(
                seed, self._zygotes, limit_s=LIMIT_S, watchdog_s=WATCHDOG_S, keeps_log=False
            )
        except RuntimeError:
            # The start of the test failed.
            yield {'failure': traceback.format_exc()}
            return
        running.append(history)
        while not history.ended():
            yield None
        running.remove(history)
        yield _answer(path, history.outcome)


def _answer(path, outcome):
    if os.path.exists(os.path.join(path, RESULT)):
        with open(os.path.join(path, RESULT)) as file:
            return json.load(file)
    return {'failure': outcome.failure or 'the test ended its process'}


def path_of(root, seed):
    """The directory of a test while it is played."""
    return os.path.join(root, 'of-' + seed.replace('/', '-').replace(' ', '-'))


def key_of(seed):
    """The settings of the cloud with which a test begins, or None."""
    settings = getattr(find(seed), 'settings', None)
    return None if settings is None else json.dumps(settings, sort_keys=True)


def find(seed):
    """The test of a seed."""
    _number, _, test_id = seed.partition(' ')
    return _tests(test_id.rsplit('.', 2)[0])[test_id]


@functools.cache
def _tests(module_name):
    """{id: test} of a module."""
    found = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module_name))
    return {test.id(): test for test in iterate_tests(found)}


def _rehearse(root, branch):
    """Live through what is done but once, and in child processes through the starts of tests."""
    _enter(os.path.join(root, 'rehearsal'))
    rehearsal.rehearse()
    live = branch()
    live()


def _live(root, settings, number, branch):
    """Live through the start of tests, and in their processes through these."""
    world = _enter(os.path.join(root, f'start-{number}'))
    if settings is not None:
        rehearsal.open_up(cloud_fixture.hold(**json.loads(settings)))
    world.branch(branch, functools.partial(path_of, root))
    _play(find(kernel.current().seed))


def _enter(path):
    """Use a directory for files. Return the stage.Stage that this process uses from now on."""
    places.enter(path)
    os.mkdir('cloud')
    tempfile.tempdir = places.ROOT
    world = stage.Stage()
    world.install_machine()
    servers.Servers(world.network).install()
    shortcuts.install()
    return world


def _play(test):
    result, printed = testtools.TestResult(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        unittest.TestSuite([test]).run(result)
    wrong = [text for _test, text in (*result.errors, *result.failures)]
    wrong += [f'skipped in the simulation: {reason}' for reason in result.skip_reasons]
    wrong += ['unexpected success'] * len(result.unexpectedSuccesses)
    answer = {'failure': '\n'.join(wrong), 'printed': printed.getvalue()}
    with open(RESULT, 'w') as file:
        json.dump(answer, file)
