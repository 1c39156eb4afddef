"""The times at which devices were plugged into guests that run, in the definitions of guests.

A device without a time was there when its guest was booted. A live migration keeps the ages of
devices: its handover contains them.
"""

import json
import typing

from nova_lite.virt import model

# Key of an entry of a definition's devices: the time by the clock of its node.
KEY = 'plugged_at'
# {device id: seconds since it was plugged in}
Ages: typing.TypeAlias = dict[str, float]


def mark(device: model.Json, at: float) -> model.Json:
    """Return the entry of a device with the time at which it is plugged in."""
    return {**device, KEY: at}


def times(spec: model.Json) -> dict[str, float]:
    """Return {device id: time at which it was plugged in} of a definition."""
    return {device['id']: device[KEY] for device in spec['devices'] if KEY in device}


def ages(spec: str, at: float) -> Ages:
    """Return the ages of the devices of a definition (JSON text)."""
    return {device: at - since for device, since in times(json.loads(spec)).items()}


def put(spec: str, found: Ages, at: float) -> str:
    """Return a definition (JSON text) whose devices have these ages at the time `at`."""
    if not found:
        return spec
    value: model.Json = json.loads(spec)
    devices = [
        mark(device, at - found[device['id']]) if device['id'] in found else device
        for device in value['devices']
    ]
    return json.dumps({**value, 'devices': devices})
