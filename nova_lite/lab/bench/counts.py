"""Counts of requests, RPCs and transactions of a cloud so far, from the metrics of its daemons."""

import collections
import json
import os

import prometheus_client.parser
import requests

from nova_lite import exception
from nova_lite.lab.launcher import layout

TIMEOUT_S = 10
# Of the metrics: name of the sample, labels that it has, what it counts.
COUNTED = (
    ('nova_lite_api_seconds_count', {}, 'API requests'),
    ('nova_lite_rpc_seconds_count', {'side': 'client'}, 'RPCs'),
    (
        'nova_lite_database_transactions_total',
        {'kind': 'write'},
        'writing transactions of {database}',
    ),
    (
        'nova_lite_database_transactions_total',
        {'kind': 'read'},
        'reading transactions of {database}',
    ),
    ('nova_lite_database_statements_total', {}, 'statements of {database}'),
    ('nova_lite_neighbour_requests_total', {}, '{method} requests to {service}'),
)


def so_far(directory):
    """Return {daemon: {what: number}} of the cloud in `directory`.

    Raise Unavailable if a daemon does not answer.
    """
    with open(os.path.join(directory, layout.HEALTH)) as file:
        return {daemon: _of(url) for daemon, url in _once(json.load(file)).items()}


def between(before, after):
    """Return what was done between two results of `so_far`, without what was not."""
    found = {}
    for daemon, counts in after.items():
        done = collections.Counter(counts)
        done.subtract(before.get(daemon, {}))
        found[daemon] = {what: number for what, number in done.items() if number}
    return found


def total(counts):
    """Return {what: number} of all daemons."""
    found = collections.Counter()
    for done in counts.values():
        found.update(done)
    return dict(found)


def _once(urls):
    """Return {daemon: URL} with each URL once: daemons of one process share it."""
    return {daemon: url for url, daemon in {url: daemon for daemon, url in urls.items()}.items()}


def _of(url):
    try:
        page = requests.get(f'{url}/metrics', timeout=TIMEOUT_S)
        page.raise_for_status()
    except requests.RequestException as error:
        raise exception.Unavailable(service=url, reason=error) from error
    return counted(page.text)


def counted(text):
    """Return {what: number} of the metrics of one daemon, in the format of Prometheus."""
    found = collections.Counter()
    for family in prometheus_client.parser.text_string_to_metric_families(text):
        for sample in family.samples:
            for name, labels, what in COUNTED:
                if sample.name == name and labels.items() <= sample.labels.items():
                    found[what.format(**sample.labels)] += sample.value
    return found
