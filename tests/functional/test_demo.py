"""The demo, which is the first thing that the README has a newcomer run."""

import contextlib
import io

import testtools

from nova_lite.lab.demo import demo
from nova_lite.lab.demo import scenes
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(2, first=1)
class DemoTest(testtools.TestCase):
    def test_every_scene(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = demo.play(scenes.SCENES)
        self.assertEqual(0, code, printed.getvalue())
        self.assertRegex(printed.getvalue(), r'\b(\d\d+) of \1 checks succeeded')
