"""Requests and RPCs that a cloud has answered so far, from the metrics of its daemons."""

import json
import os

import prometheus_client.parser
import requests

from nova_lite import exception
from nova_lite.launcher import layout

TIMEOUT_S = 10
# Of the metrics: name of the sample, labels that it has, what it counts.
COUNTED = (
    ('nova_lite_api_seconds_count', {}, 'API requests'),
    ('nova_lite_rpc_seconds_count', {'side': 'client'}, 'RPCs'),
)


def so_far(directory):
    """Return {what: number} over all daemons of the cloud in `directory`.

    Raise Unavailable if one of them does not answer.
    """
    with open(os.path.join(directory, layout.HEALTH)) as file:
        urls = set(json.load(file).values())
    found = {what: 0 for _name, _labels, what in COUNTED}
    for url in urls:
        for what, number in _of(url).items():
            found[what] += number
    return found


def _of(url):
    try:
        page = requests.get(f'{url}/metrics', timeout=TIMEOUT_S)
        page.raise_for_status()
    except requests.RequestException as error:
        raise exception.Unavailable(service=url, reason=error) from error
    found = {what: 0 for _name, _labels, what in COUNTED}
    for family in prometheus_client.parser.text_string_to_metric_families(page.text):
        for sample in family.samples:
            for name, labels, what in COUNTED:
                if sample.name == name and labels.items() <= sample.labels.items():
                    found[what] += sample.value
    return found
