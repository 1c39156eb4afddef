"""Brokers and databases that do not answer for a minute."""

from tests.functional_rabbit import test_outages


class TestMinute(test_outages.TestOutages):
    outage_s = 60
