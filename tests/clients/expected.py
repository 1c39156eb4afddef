"""Expected results of the tests of each suite, read from a file.

For each suite it has the version, the number of tests, and those that do not pass, by reason::

    novaclient:
      version: 18.13.1
      tests: 202
      not_passing:
      - result: fail
        reason: The test counts the hosts of one cell.
        tests: [novaclient.tests.functional.…]
"""

import pathlib

import yaml

from tests.tempest import expected

PATH = pathlib.Path('doc', 'source', 'reference', 'clients.yaml')


def load(text):
    """Return {suite: expected.Expected} of a file's text. Raises ValueError."""
    return {
        name: expected.Expected(
            str(suite['version']), suite['tests'], expected.not_passing(suite['not_passing'])
        )
        for name, suite in yaml.safe_load(text).items()
    }
