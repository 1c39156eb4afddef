"""Tests of nova_lite, one folder for each tox environment."""

import logging

# Without any handler Python prints each warning between the results of the tests.
logging.getLogger().addHandler(logging.NullHandler())
