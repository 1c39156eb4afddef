"""Sizes of nova_lite in the README: figures of a former build are labelled with its day."""

import contextlib
import io

import testtools

from tools import footprint


class FootprintTest(testtools.TestCase):
    def run_tool(self, *argv):
        """Return (exit code, output, errors)."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = footprint.main(argv)
        return code, out.getvalue(), errors.getvalue()

    def test_an_image_that_was_built_before(self):
        """Its sizes are shown with the day, and the other figures stay."""
        cloud, image = footprint.written()
        self.assertTrue(cloud.startswith('The wheel has '), cloud)
        found = self.run_tool('--built', '1453.4', '225', '2026-11-30')
        shown = 'The image of a container has 1453 MB, of which its base has 225 MB (built on 2026-11-30).'
        self.assertEqual((0, f'{cloud}\n\n{shown}\n', ''), found)
        self.assertRegex(image, r'^The image of a container has \d+ MB,.*built\son\s[0-9-]+\)\.$')

    def test_what_is_no_size(self):
        code, out, errors = self.run_tool('--built', 'many', '225', '2026-11-30')
        self.assertEqual((2, ''), (code, out))
        self.assertIn('many', errors)
