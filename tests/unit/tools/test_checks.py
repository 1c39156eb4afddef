"""The house rules find what they are for and nothing else."""

import textwrap

import testtools

from nova_lite.api import microversion
from tools import checks
from tools.checks import commit_message
from tools.checks import constructs
from tools.checks import docstrings
from tools.checks import file_names
from tools.checks import hacking_rules
from tools.checks import inherited
from tools.checks import newest
from tools.checks import places
from tools.checks import private
from tools.checks import revisions
from tools.checks import seam
from tools.checks import sizes


def _texts(check, text, path='nova_lite/x.py'):
    return [problem.text for problem in check(checks.Source(path, textwrap.dedent(text)))]


class TestFileNames(testtools.TestCase):
    def test_one_subject_for_a_name(self):
        wrong = ['report: this name stands for another subject. Choose its own']
        self.assertEqual([], _texts(file_names.check, '', 'nova_lite/lab/maintenance/report.py'))
        self.assertEqual(wrong, _texts(file_names.check, '', 'nova_lite/daemons/report.py'))
        self.assertEqual(wrong, _texts(file_names.check, '', 'nova_lite/report.py'))

    def test_a_name_with_two_subjects(self):
        wrong = ['driver: this name stands for another subject. Choose its own']
        for path in ('nova_lite/rpc/driver.py', 'nova_lite/virt/sim/driver.py'):
            self.assertEqual([], _texts(file_names.check, '', path))
        self.assertEqual(wrong, _texts(file_names.check, '', 'nova_lite/lab/bench/driver.py'))

    def test_layers_of_one_subject(self):
        for path in (
            'nova_lite/db/cell/services.py',
            'nova_lite/metadata/service/app.py',
            'tests/report.py',
        ):
            self.assertEqual([], _texts(file_names.check, '', path))


class TestSizes(testtools.TestCase):
    def test_long_file(self):
        self.assertEqual([], _texts(sizes.check, 'a = 1\n' * 400))
        self.assertEqual(['401 lines, more than 400'], _texts(sizes.check, 'a = 1\n' * 401))

    def test_long_function(self):
        body = 'def f():\n' + '    a = 1\n' * 50
        self.assertEqual(['f: 51 lines, more than 50'], _texts(sizes.check, body))

    def test_parameters(self):
        fine = 'def f(self, ctxt, a, b, c, *, d, e, f): pass'
        self.assertEqual([], _texts(sizes.check, fine))
        many = 'def f(a, *, b, c, d, e, f, g): pass'
        self.assertEqual(['f: 7 parameters, more than 6'], _texts(sizes.check, many))
        positional = 'def f(a, b, c, d, e): pass'
        self.assertIn('5 positional', _texts(sizes.check, positional)[0])


class TestConstructs(testtools.TestCase):
    def test_name_imported(self):
        self.assertEqual(
            ['import the module, not now from nova_lite.runtime'],
            _texts(constructs.check, 'from nova_lite.runtime import now'),
        )

    def test_module_imported(self):
        text = 'from nova_lite import runtime\nfrom tools import checks\nfrom os import path\n'
        self.assertEqual([], _texts(constructs.check, text))

    def test_everything_caught(self):
        for kind in ('except:', 'except Exception:', 'except (ValueError, Exception) as e:'):
            text = 'try:\n    f()\n%s\n    g()\n' % kind
            self.assertEqual(1, len(_texts(constructs.check, text)), kind)
            self.assertEqual([], _texts(constructs.check, text, 'nova_lite/saga/engine.py'))

    def test_caught_to_clean_up_and_raised_again(self):
        text = 'try:\n    f()\nexcept BaseException:\n    g()\n    raise\n'
        self.assertEqual([], _texts(constructs.check, text))

    def test_vague_names(self):
        self.assertEqual(1, len(_texts(constructs.check, '', 'nova_lite/utils.py')))
        self.assertEqual(2, len(_texts(constructs.check, 'def do_it(): f()\ndef x_helper(): f()')))

    def test_rows_are_locked_by_one_function(self):
        text = 'LOCK = QUERY.with_for_update()'
        self.assertEqual(1, len(_texts(constructs.check, text, 'nova_lite/db/rows.py')))
        for path in ('nova_lite/dialects/writing.py', 'tests/x.py'):
            self.assertEqual([], _texts(constructs.check, text, path))

    def test_method_left_out(self):
        text = 'def f():\n    raise NotImplementedError\n'
        self.assertEqual(1, len(_texts(constructs.check, text)))


class TestDocstrings(testtools.TestCase):
    def texts(self, docstring, path='nova_lite/x.py'):
        return _texts(docstrings.check, f'def f():\n    """{docstring}"""', path)

    def test_what_is_returned(self):
        for docstring in ('The row.', 'Whether it runs.', '{id: row}.', 'Let it run.', 'all rows'):
            self.assertEqual(['f: begin the docstring with a verb'], self.texts(docstring))

    def test_what_a_test_says(self):
        """A plain noun will do, and no word that names nothing."""
        for docstring in ('The row.', '{id: row}.', 'all rows', 'Return it.'):
            self.assertEqual([], self.texts(docstring, 'tests/x.py'))
        for docstring in ('Whether it runs.', 'Let it run.', 'Who asks again is told.'):
            wrong = ['begin the docstring with the thing']
            self.assertEqual(wrong, self.texts(docstring, 'tests/x.py'))

    def test_things(self):
        for text in ('"""What runs."""', 'class A:\n    """What runs."""'):
            wrong = ['begin the docstring with the thing']
            for path in ('nova_lite/x.py', 'tests/x.py'):
                self.assertEqual(wrong, _texts(docstrings.check, text, path))
                self.assertEqual([], _texts(docstrings.check, text.replace('What', 'A host'), path))

    def test_what_is_done(self):
        for docstring in ('Return the row.', 'Add one.', 'Do as `get`.'):
            self.assertEqual([], self.texts(docstring))
        self.assertEqual([], _texts(docstrings.check, 'def f(): pass'))


class TestNewest(testtools.TestCase):
    def test_constants(self):
        version = microversion.MAXIMUM
        for line in (
            f"NEWEST = '{version}'",
            f'FIRST, LAST = 1, {version.minor}',
            f"    def create(self, version='{version}'): pass",
        ):
            self.assertEqual(['read microversion.MAXIMUM'], _texts(newest.check, line), line)

    def test_others(self):
        version = microversion.MAXIMUM
        for line in (
            'NEWEST = str(microversion.MAXIMUM)',
            f"self.ok('PUT', path, body, version='{version}')",
            f"SINCE = '{version}'",
            f'LAST = 1{version.minor}',
        ):
            self.assertEqual([], _texts(newest.check, line), line)


class TestPlaces(testtools.TestCase):
    def test_personal_path(self):
        path = '/'.join(('', 'home', 'someone', 'x'))
        self.assertEqual(1, len(_texts(places.check, 'see %s' % path, 'README.rst')))

    def test_paths_every_machine_has(self):
        text = '/etc/nova_lite/x /usr/lib/y https://example.org/home/x $HOME/root/x'
        self.assertEqual([], _texts(places.check, text, 'README.rst'))


class TestPrivate(testtools.TestCase):
    def test_names_of_others(self):
        texts = (
            'from oslo_messaging._drivers import base',
            'import oslo_messaging._drivers.base as base',
            'from oslo_messaging import _drivers',
            "getattr(dialect, '_backslash_escapes', None)",
            'module._flag = True',
            'f(self.bus._driver)',
            'from oslo_context import context\ncontext._request_store.context = None',
        )
        for text in texts:
            self.assertEqual(1, len(_texts(private.check, text)), text)
            for path in ('nova_lite/private_apis/x.py', 'tests/x.py'):
                self.assertEqual([], _texts(private.check, text, path))

    def test_names_of_our_own(self):
        text = """
            class Thing(Base):
                _known = None
                def _read(self):
                    found = getattr(self, '_known', __import__('x').__version__)
                    return self._at(row._mapping), super()._read(), Thing._known, found
        """
        self.assertEqual([], _texts(private.check, text))


class TestInherited(testtools.TestCase):
    text = """
        from oslo_messaging import driver
        from nova_lite.private_apis import messaging
        from nova_lite.rpc import consumer
        class Thing({base}):
            _known = None
            def __init__(self):
                self._made = 1
            def _read(self):
                self._lost = self._declared_on
                return self._known, self._made, self._read()
    """

    def test_names_that_a_library_has_made(self):
        for base in ('driver.Driver', 'messaging.impl_rabbit.Consumer', 'Own, driver.D[str]'):
            found = _texts(inherited.check, self.text.format(base=base))
            self.assertEqual(['declare in nova_lite.private_apis: _lost'], found, base)

    def test_names_that_we_have_made(self):
        for base in ('', 'Own', 'consumer.Queues'):
            self.assertEqual([], _texts(inherited.check, self.text.format(base=base)), base)
        text = self.text.format(base='driver.Driver')
        self.assertEqual([], _texts(inherited.check, text, 'tests/x.py'))


class TestRevisions(testtools.TestCase):
    PATH = 'nova_lite/db/schema/cell/v0002_shelves.py'

    def test_tables(self):
        text = 'METADATA.create_all(op.get_bind())\nop.add_column("instances", column)'
        self.assertEqual([], _texts(revisions.check, text, self.PATH))

    def test_rows(self):
        for text in (
            'op.execute("UPDATE instances SET a = 1")',
            'op.bulk_insert(TABLE, [{}])',
            'op.get_bind().execute(TABLE.update())',
        ):
            found = _texts(revisions.check, text, self.PATH)
            self.assertEqual(1, len(found), text)
            self.assertIn('online data migration', found[0])
            self.assertEqual([], _texts(revisions.check, text))


class TestSeam(testtools.TestCase):
    def test_every_form_of_import(self):
        forms = (
            'import threading',
            'import os, select',
            'import concurrent.futures as pools',
            'from concurrent import futures',
            'from queue import SimpleQueue',
            'from futurist import periodics',
            'def f():\n    if x:\n        from time import sleep',
            "uuid = importlib.import_module('uuid')",
            "__import__('secrets').token_hex()",
            "importlib.import_module(name='threading')",
            "__import__(name='threading')",
            "importlib.__import__('time')",
            "sys.modules['threading'].Lock()",
            "sys.modules.get('queue')",
        )
        for text in forms:
            for path in ('nova_lite/x.py', 'nova_lite/api/runtime.py', 'tests/x.py'):
                self.assertEqual(1, len(_texts(seam.check, text, path)), (text, path))

    def test_the_name_is_told(self):
        self.assertEqual(
            ['ask nova_lite.runtime, not _thread', 'ask nova_lite.runtime, not sched'],
            _texts(seam.check, 'import _thread, sched'),
        )

    def test_modules_by_way_of_runtime(self):
        for name in ('threading', 'queue', 'select', 'time', 'uuid', 'secrets', '_random'):
            for text in (f'runtime.{name}.x()', f"getattr(runtime, '{name}')"):
                expected = ['ask nova_lite.runtime, not runtime.' + name]
                self.assertEqual(expected, _texts(seam.check, text))
        self.assertEqual([], _texts(seam.check, 'runtime.random().choice(x)'))

    def test_libraries_with_threads_or_clocks(self):
        forms = (
            'import asyncio.subprocess',
            'import eventlet',
            'import multiprocessing.pool',
            'import socketserver',
            'import tenacity',
            'from oslo_concurrency import lockutils',
            'from oslo_concurrency.lockutils import lock',
            'from oslo_utils.timeutils import utcnow',
            'timeutils.StopWatch()',
            'from oslo_utils import eventletutils',
            'from oslo_service import loopingcall',
            'oslo_utils.timeutils.utcnow()',
        )
        for text in forms:
            self.assertEqual(1, len(_texts(seam.check, text)), text)
        text = 'from oslo_concurrency import processutils\nfrom oslo_utils import timeutils\n'
        text += 'timeutils.parse_isotime(x)\n'
        self.assertEqual([], _texts(seam.check, text))

    def test_signals_after_a_time(self):
        for text in ('signal.setitimer(0, 1)', 'signal.alarm(1)', 'from signal import sigwait'):
            self.assertEqual(1, len(_texts(seam.check, text)), text)
        self.assertEqual([], _texts(seam.check, 'signal.signal(signal.SIGTERM, f)'))

    def test_allowed_by_module(self):
        path = 'tests/fixtures/systemd.py'
        self.assertEqual([], _texts(seam.check, 'import socketserver', path))
        self.assertEqual(1, len(_texts(seam.check, 'import threading', path)))

    def test_modules_of_like_names(self):
        text = 'from nova_lite.scheduler import select\nimport timeit\nfrom x import uuid\n'
        self.assertEqual([], _texts(seam.check, text + "sys.modules['timing']\n"))

    def test_who_may(self):
        for path in ('nova_lite/runtime/__init__.py', 'tests/sim/kernel/locks.py'):
            self.assertEqual([], _texts(seam.check, 'import threading, time', path))


class TestHacking(testtools.TestCase):
    BAD = """\
# vim: tabstop=4
class A:
    def f(self):
        try:
            g()
        except:
            pass
        self.assertEqual(None, 1)
        self.assertTrue(isinstance(1, int))
        self.assertRaises(Exception, g)
        return '%(a)s' % locals()

    def g(self):
        \""" Starts with a space.\"""
"""
    BROKEN = {
        'H103': ('# \n# Licensed under the Apache License, one of them\n' + 'a = 1\n' * 10,),
        'H104': ('# nothing\n\n',),
        'H105': ('# Author: x\na = 1\n', '#@authors: x\na = 1\n', '.. moduleauthor:: x\n'),
        'H106': ('# vim: x\na = 1\n', 'a = 1\n# vi: x\n'),
        'H201': ('try:\n    f()\nexcept:\n    g()\n',),
        'H202': (
            'self.assertRaises(\n    Exception,\n    f,\n)\n',
            'self.assertRaises(Exception)\n',
        ),
        'H203': ('self.assertIsNot(\n    f(1, 2),\n    None,\n)\n', 'f.assertEqual(None, 1)\n'),
        'H204': ('self.assertFalse(\n    a != 1\n)\n', 'self.assertTrue(self.f() == 2)\n'),
        'H211': ('self.assertTrue(isinstance(a, b.c))\n', 'self.assertEqual(type(a), b)\n'),
        'H213': ('self.assertRaisesRegexp(ValueError, f)\n',),
        'H214': ('self.assertTrue(a in b, 1)\n', 'self.assertFalse(a not in [1, 2])\n'),
        'H215': ('self.assertEqual(True, a in b)\n', 'self.assertEqual(a in b, False)\n'),
        'H216': ('import mock\n', 'from mock import patch\n'),
        'H401': ("class A:\n    ''' A.'''\n", 'def f():\n    r""" F.\n    """\n'),
        'H403': ('def f():\n    """F.\n\n    F."""\n', "class A:\n    r'''A.\n    A.'''\n"),
        'H501': (
            "'%(a)s' % locals()\n",
            "'%(a)s' % locals(  # all\n)\n",
            "'%(a)s' % self.__dict__\n",
        ),
        'H701': ("_('')\n", "f(_LW(''))\n"),
        'H702': ("_('a' + 'b')\n", "_LE('%s' % a)\n"),
        'H703': ("_LI('%s %s')\n",),
        'H903': ('a = 1\r\n',),
        'H906': ("LOG.warn('a')\n",),
    }

    def test_what_breaks_a_rule_is_found(self):
        rules = ['H106', 'H201', 'H203', 'H211', 'H202', 'H501', 'H401']
        self.assertEqual(rules, self.found(self.BAD))

    def test_rules_of_others_are_left_to_them(self):
        self.assertEqual([], self.found('import os, sys\nx=1;y = 2\n' + 'z = "%s"\n' % ('z' * 200)))

    def test_no_rule_is_passed_over(self):
        for rule, texts in self.BROKEN.items():
            for text in texts:
                source = checks.Source('x.py', text)
                found = [line.partition(':')[0] for _, line in hacking_rules.judge(source)]
                self.assertIn(rule, found, text)
                self.assertTrue(hacking_rules.may_break(source), text)

    def found(self, text):
        """The rules that a file breaks."""
        return [found.partition(':')[0] for found in _texts(hacking_rules.check, text)]


class TestCommitMessage(testtools.TestCase):
    def test_good(self):
        self.assertEqual([], commit_message.problems('Do this\n\nBecause of that.\n# note'))

    def test_bad(self):
        message = '%s.\nno gap\n%s' % ('s' * 60, 'b' * 73)
        self.assertEqual(4, len(commit_message.problems(message)))

    def test_empty(self):
        self.assertEqual(['the subject is missing'], commit_message.problems('# only a note'))
