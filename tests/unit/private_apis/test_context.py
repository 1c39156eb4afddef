"""The context to which the log lines of a thread are bound."""

import os
import subprocess
import sys

import testtools

from nova_lite import context
from nova_lite.private_apis import context as storage
from nova_lite.private_apis import guard

IMPORT = """
from oslo_context import context
import nova_lite.context
assert context.get_current() is None, context.get_current()
"""


class ContextTest(testtools.TestCase):
    def test_an_import_binds_none(self):
        for documented_only in ('', storage.LIBRARY.name):
            with self.subTest(documented_only):
                done = subprocess.run(
                    [sys.executable, '-c', IMPORT],
                    env={**os.environ, guard.VARIABLE: documented_only},
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((0, ''), (done.returncode, done.stderr))

    def test_none_is_bound_by_documented_names_alone(self):
        self.addCleanup(storage.bind, storage.bound())
        self.patch(storage.LIBRARY, 'is_used', False)
        ctxt = context.RequestContext(overwrite=False)
        with ctxt.bound():
            with context.bound(None):
                self.assertIsNone(context.current())
            self.assertIs(ctxt, context.current())
