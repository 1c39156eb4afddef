"""The rendered documents in a browser, on a wide screen and on a phone: no page is wider than it.

The pages are those that `tox -e docs` writes to doc/build/html, or those of the directory that
NOVA_LITE_TEST_DOCUMENTS names.
"""

import os
import pathlib

import testtools

from tests.fixtures import browser as browser_fixture
from tests.fixtures import units

DIRECTORY = pathlib.Path(
    os.environ.get('NOVA_LITE_TEST_DOCUMENTS', units.ROOT / 'doc' / 'build' / 'html')
)
WIDTHS = (1400, 390)


@testtools.skipUnless(DIRECTORY.is_dir(), f'{DIRECTORY} does not exist: run tox -e docs')
class DocumentsTest(testtools.TestCase):
    def test_widths(self):
        browser = self.useFixture(browser_fixture.Browser())
        pages = [page for page in sorted(DIRECTORY.rglob('*.html')) if '_static' not in page.parts]
        self.assertGreater(len(pages), 100)
        for width in WIDTHS:
            browser.resize(width, 1000)
            wider = {}
            for page in pages:
                browser.driver.get(page.absolute().as_uri())
                found = browser.run('return document.documentElement.scrollWidth')
                if found > width:
                    wider[str(page.relative_to(DIRECTORY))] = found
            self.assertEqual({}, wider, f'at {width} px')
