"""Numbers of requests, RPCs and transactions of a cloud, from the metrics of its daemons."""

import collections
from collections.abc import Mapping
import json
import os
import typing

import prometheus_client.parser
import requests

from nova_lite import exception
from nova_lite.lab.launcher import layout

TIMEOUT_S = 10
# Samples of the metrics: name, labels, and a text that names what the sample counts.
COUNTED: tuple[tuple[str, dict[str, str], str], ...] = (
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

# The counts of each daemon: {text of COUNTED: number}.
Counts: typing.TypeAlias = dict[str, dict[str, float]]


def so_far(directory: str) -> Counts:
    """Return the counts of a cloud since its start. Raise Unavailable if a daemon does not answer.

    directory: the state directory
    """
    with open(os.path.join(directory, layout.HEALTH)) as file:
        return {daemon: _of(url) for daemon, url in _once(json.load(file)).items()}


def between(before: Counts, after: Counts) -> Counts:
    """Return the differences, other than 0, between two results of `so_far`."""
    found: Counts = {}
    for daemon, counts in after.items():
        earlier = before.get(daemon, {})
        done = {what: number - earlier.get(what, 0) for what, number in counts.items()}
        found[daemon] = {what: number for what, number in done.items() if number}
    return found


def total(counts: Counts) -> dict[str, float]:
    """Return {name of a count: number} of all daemons together."""
    found: dict[str, float] = collections.defaultdict(int)
    for done in counts.values():
        for what, number in done.items():
            found[what] += number
    return dict(found)


def _once(urls: Mapping[str, str]) -> dict[str, str]:
    """Return {daemon: URL} with one daemon for each URL: daemons of one process share a URL."""
    return {daemon: url for url, daemon in {url: daemon for daemon, url in urls.items()}.items()}


def _of(url: str) -> dict[str, float]:
    try:
        page = requests.get(f'{url}/metrics', timeout=TIMEOUT_S)
        page.raise_for_status()
    except requests.RequestException as error:
        raise exception.Unavailable(service=url, reason=error) from error
    return counted(page.text)


def counted(text: str) -> dict[str, float]:
    """Return {name of a count: number} from the metrics of a daemon in Prometheus' format."""
    found: dict[str, float] = collections.defaultdict(int)
    for family in prometheus_client.parser.text_string_to_metric_families(text):
        for sample in family.samples:
            for name, labels, what in COUNTED:
                if sample.name == name and labels.items() <= sample.labels.items():
                    found[what.format(**sample.labels)] += sample.value
    return found
