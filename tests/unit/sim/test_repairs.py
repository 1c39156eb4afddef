"""Log lines of audits about repairs are those that histories read."""

import importlib.util
import logging
import os

import testtools

from tests.sim.oracle import repairs


def _source(name):
    """The source of a module, or of all modules of a package."""
    spec = importlib.util.find_spec(name)
    paths = [spec.origin]
    for directory in spec.submodule_search_locations or ():
        paths += [os.path.join(directory, each) for each in os.listdir(directory)]
    texts = []
    for path in sorted(paths):
        if path.endswith('.py'):
            with open(path) as opened:
                texts.append(opened.read())
    return ''.join(texts)


class RepairsTestCase(testtools.TestCase):
    def test_audits_log_these_messages(self):
        source = ''.join(_source(name) for name in repairs.LOGGERS)
        warnings = ''.join(source.replace('\n', '').split())
        for message in repairs.MESSAGES:
            self.assertIn("LOG.warning('" + ''.join(message.split()), warnings)

    def test_only_repairs_are_heard(self):
        logger = logging.getLogger('nova_lite.tests.repairs')
        noted = []
        heard = repairs.Repairs(lambda *line: noted.append(line), lambda: 5.0)
        logger.addHandler(heard)
        logger.propagate = False
        self.addCleanup(logger.removeHandler, heard)
        logger.warning('Cannot audit allocations: %s', 'x')
        logger.warning('Corrected the quota usage of cell %s', 'cell1')
        self.assertEqual([(5.0, 'Corrected the quota usage of cell cell1')], heard.found)
        self.assertEqual([('repair', 'Corrected the quota usage of cell cell1')], noted)
